"""What ties notifications to the listen stream that delivers them."""

from typing import Any, TypeVar

import msgspec

from genmcp.mcp.model import Model
from genmcp.mcp.v2607.base import NotificationMessage, NotificationParams, RequestId
from genmcp.mcp.v2607.meta import SUBSCRIPTION_ID_KEY
from genmcp.mcp.v2607.prompts import PromptListChangedNotification
from genmcp.mcp.v2607.resources import ResourceListChangedNotification, ResourceUpdatedNotification
from genmcp.mcp.v2607.subscriptions import SubscriptionsAcknowledgedNotification, SubscriptionsListenResult
from genmcp.mcp.v2607.tools import ToolListChangedNotification

NotificationT = TypeVar("NotificationT", bound=Model)

SUBSCRIPTION_NOTIFICATIONS: frozenset[str] = frozenset(
    kind.method
    for kind in (
        SubscriptionsAcknowledgedNotification,
        ToolListChangedNotification,
        PromptListChangedNotification,
        ResourceListChangedNotification,
        ResourceUpdatedNotification,
    )
)
"""The methods of the notifications that listen streams deliver, each with its subscription's id (M-13)."""


def requires_subscription_id(notification: Model) -> bool:
    """Say whether a notification must name its subscription."""
    return isinstance(notification, NotificationMessage) and notification.method in SUBSCRIPTION_NOTIFICATIONS


def with_subscription_id(notification: NotificationT, subscription_id: RequestId) -> NotificationT:
    """Return the notification with the id of its subscription, as the type that the id has.

    An id that is there already is kept, and a notification that needs none is returned as it is.
    """
    if not requires_subscription_id(notification):
        return notification
    params: Any = getattr(notification, "params", None) or NotificationParams()
    meta = {SUBSCRIPTION_ID_KEY: subscription_id, **(params.meta or {})}
    return msgspec.structs.replace(notification, params=msgspec.structs.replace(params, meta=meta))


def listen_result(subscription_id: RequestId, *, meta: dict[str, Any] | None = None) -> SubscriptionsListenResult:
    """Return the result that ends a listen stream.

    Args:
        subscription_id: the id of the listen request.
        meta: more of the result's `_meta`.
    """
    return SubscriptionsListenResult(meta={**(meta or {}), SUBSCRIPTION_ID_KEY: subscription_id})
