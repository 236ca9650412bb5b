"""Conversations: asking the client something in the middle of a request, and going on with its answer.

`dialogue` has the theory; `questions` says what can be asked, `answers` what comes back, `state` what is sealed into
`requestState`, `table` which workers wait. Nothing here knows of HTTP.
"""

from genmcp.conversation.answers import Accepted, Answer, Declined, Dismissed
from genmcp.conversation.dialogue import Dialogue
from genmcp.conversation.questions import Question
from genmcp.conversation.table import Conversations

__all__ = ["Accepted", "Answer", "Conversations", "Declined", "Dialogue", "Dismissed", "Question"]
