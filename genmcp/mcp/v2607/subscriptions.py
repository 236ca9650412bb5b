"""Subscriptions: one long request on whose stream the notifications that the client wants arrive."""

from collections.abc import Sequence
from typing import ClassVar

from msgspec import field

from genmcp.mcp.model import Model
from genmcp.mcp.v2607.base import (
    MetaObject,
    NotificationMessage,
    NotificationParams,
    RequestMessage,
    RequestParams,
    Result,
)


class SubscriptionFilter(Model, frozen=True, kw_only=True):
    """The notifications that a client wants, or that a server agreed to send. False and absent mean the same."""

    tools_list_changed: bool | None = None
    prompts_list_changed: bool | None = None
    resources_list_changed: bool | None = None
    resource_subscriptions: Sequence[str] | None = None


class SubscriptionsListenRequestParams(RequestParams, frozen=True, kw_only=True):
    """What the client wants to hear of."""

    notifications: SubscriptionFilter


class SubscriptionsListenRequest(RequestMessage, frozen=True, kw_only=True, tag="subscriptions/listen"):
    """Opens a stream of notifications."""

    method: ClassVar[str] = "subscriptions/listen"
    params: SubscriptionsListenRequestParams


class SubscriptionsListenResult(Result, frozen=True, kw_only=True):
    """The end of the stream; its `_meta` names the subscription. `listen_result` builds it."""

    meta: MetaObject = field(name="_meta")  # required here, optional in every other result


class SubscriptionsAcknowledgedNotificationParams(NotificationParams, frozen=True, kw_only=True):
    """What the server agreed to send: part of what was asked for."""

    notifications: SubscriptionFilter


class SubscriptionsAcknowledgedNotification(
    NotificationMessage, frozen=True, kw_only=True, tag="notifications/subscriptions/acknowledged"
):
    """The first event of the stream."""

    method: ClassVar[str] = "notifications/subscriptions/acknowledged"
    params: SubscriptionsAcknowledgedNotificationParams
