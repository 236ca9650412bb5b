"""Clients of the 2025 revisions, served by the same servers as those of 2026-07-28.

A legacy request is translated up into the request of 2026-07-28, answered by the same worker, and what the worker says
is translated down again. What a 2026 client would do by itself (declare its capabilities on every request, listen,
answer a question by a retry) is done here in the client's stead.

| file | what |
|---|---|
| `revision` | what each revision has |
| `client` | what a client said of itself when it opened the session |
| `up`, `down`, `asking` | requests up; results, errors and notifications down; questions down and answers up |
| `codec`, `forms`, `handshake` | how messages are written; forms for older clients; the answer to `initialize` |
| `session`, `turn`, `listening` | one client's state; one request of it; its stream of changes |
| `sink`, `attendance` | where messages go; what happens when nobody reads them |
| `desk` | takes a session's messages, whatever carries them |
| `controller`, `sessions` | who keeps sessions; what of them is kept in this process |
| `events`, `stream`, `store`, `carrier`, `http` | streams to come back to, and HTTP |

Nothing above `controller` knows of HTTP: standard input and output use it as well.
"""
