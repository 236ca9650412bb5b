"""What the commands that run a server share: where they log, and how they leave."""

from __future__ import annotations

import logging
import os
import sys
import threading

from genmcp.settings import Settings

__all__ = ["DEMO", "leave", "log_to_stderr"]

DEMO = "genmcp.cli.demo:suite"
"""The application when none is given."""


def log_to_stderr(settings: Settings) -> None:
    """Log to standard error from the settings' level on."""
    logging.basicConfig(
        level=settings.log_level.upper(), format="%(asctime)s %(levelname)-7s %(name)s: %(message)s", stream=sys.stderr
    )
    if settings.log_level == "debug":
        from genmcp.telemetry import attach_default_logger

        attach_default_logger()


def leave() -> None:
    """End the process although the application may have left threads behind that Python would wait for."""
    others = [thread for thread in threading.enumerate() if thread is not threading.main_thread()]
    left = [thread.name for thread in others if not thread.daemon]
    if left:
        logging.getLogger("genmcp").warning("Ending although threads still run: %s", ", ".join(left))
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
