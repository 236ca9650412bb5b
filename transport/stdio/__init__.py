"""MCP over standard input and output: one JSON-RPC message a line, for the one client that started the process.

    transport.run_stdio(suite)                            # blocking, until the client closes our input, or a signal
    await transport.serve_stdio(suite, receive, send)     # inside trio, over any pair of streams

| file | what |
|---|---|
| `descriptors` | the process's own streams, taken away from everything else in it |
| `lines`, `writer` | bytes in, cut into lines; lines out, in order and bounded |
| `seldom` | records of the log that a client can cause at will |
| `peer` | what each message is, and who answers it |
| `running` | the requests that are being answered |
| `turn`, `older` | a request of 2026-07-28; a client of the 2025 revisions |
| `serve`, `run` | the whole, to its end |

A custom transport over any reliable stream of bytes can use the same framing: give `serve_stdio` its two halves.
"""

from transport.stdio.descriptors import StandardStreams, StdioError, take_standard_streams
from transport.stdio.run import run_stdio
from transport.stdio.serve import StdioServing, serve_stdio

__all__ = ["StandardStreams", "StdioError", "StdioServing", "run_stdio", "serve_stdio", "take_standard_streams"]
