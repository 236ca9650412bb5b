"""Notifications about one request: its progress, its log lines, its cancellation."""

from typing import Any, ClassVar

from genmcp.mcp.v2607.base import LoggingLevel, NotificationMessage, NotificationParams, ProgressToken, RequestId

LOGGING_LEVELS: tuple[LoggingLevel, ...] = (
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
)
"""The levels of RFC 5424, the least severe first."""


def level_reaches(level: LoggingLevel, threshold: LoggingLevel) -> bool:
    """Say whether a message of `level` is to be sent to a client that asked for `threshold` and above."""
    return LOGGING_LEVELS.index(level) >= LOGGING_LEVELS.index(threshold)


class CancelledNotificationParams(NotificationParams, frozen=True, kw_only=True):
    """Which request, and why."""

    request_id: RequestId
    reason: str | None = None


class CancelledNotification(NotificationMessage, frozen=True, kw_only=True, tag="notifications/cancelled"):
    """From a client on stdio: it no longer wants the answer. Over HTTP it closes the connection instead."""

    method: ClassVar[str] = "notifications/cancelled"
    params: CancelledNotificationParams


class ProgressNotificationParams(NotificationParams, frozen=True, kw_only=True):
    """How far a request is.

    Attributes:
        progress_token: the one that the request brought.
        progress: grows with every notification.
        total: what it grows to, if that is known.
        message: for people.
    """

    progress_token: ProgressToken
    progress: float
    total: float | None = None
    message: str | None = None


class ProgressNotification(NotificationMessage, frozen=True, kw_only=True, tag="notifications/progress"):
    """A request is under way."""

    method: ClassVar[str] = "notifications/progress"
    params: ProgressNotificationParams


class LoggingMessageNotificationParams(NotificationParams, frozen=True, kw_only=True):
    """A log line: any JSON value as `data`, null included."""

    level: LoggingLevel
    data: Any
    logger: str | None = None


class LoggingMessageNotification(NotificationMessage, frozen=True, kw_only=True, tag="notifications/message"):
    """A log line of a request, for a client that asked for log lines."""

    method: ClassVar[str] = "notifications/message"
    params: LoggingMessageNotificationParams
