"""What each of the 2025 revisions has that another has not, and which of them a client gets (O-02, O-03)."""

from __future__ import annotations

import msgspec


class Revision(msgspec.Struct, frozen=True, kw_only=True):
    """One revision with a handshake.

    Attributes:
        version: Its date.
        batches: Several messages may come as one array (O-38).
        null_ids: An error whose request's id could not be read has the id null; newer ones leave it out.
        structured: Tools have output schemas and structured content; there are titles and resource links.
        elicitation: The person at the client can be asked, by a form.
        rich_forms: Forms have defaults, titled options and choices of several; there are pages to open.
        icons: There are icons; who somebody is comes with a description and a website.
        sampling_tools: The client's model may be given tools, and messages of several blocks.
        priming: A stream begins with an event that has only an id, and may be closed before its answer (O-23).
    """

    version: str
    batches: bool = False
    null_ids: bool = False
    structured: bool = True
    elicitation: bool = True
    rich_forms: bool = False
    icons: bool = False
    sampling_tools: bool = False
    priming: bool = False


NOVEMBER = Revision(version="2025-11-25", rich_forms=True, icons=True, sampling_tools=True, priming=True)
JUNE = Revision(version="2025-06-18", null_ids=True)
MARCH = Revision(version="2025-03-26", null_ids=True, batches=True, structured=False, elicitation=False)

REVISIONS: dict[str, Revision] = {each.version: each for each in (NOVEMBER, JUNE, MARCH)}
"""The revisions that are served by a handshake, newest first."""


def negotiate(requested: str) -> Revision:
    """Return the revision that a client gets: the one it asked for, or the newest.

    An unknown version, one of before 2025 and one that has no handshake get the newest: the client may then decide.
    """
    return REVISIONS.get(requested, NOVEMBER)
