"""``python -m genmcp secret``: make a key for sealed tokens."""

import base64
import os

import click

__all__ = ["secret"]


@click.command()
def secret() -> None:
    """Print a new key for GENMCP_SECRET_KEY.

    Every process that shares clients needs the same key. To change it without refusing what clients hold, set
    GENMCP_SECRET_KEY=NEW,OLD until the oldest token has expired.
    """
    click.echo(base64.b64encode(os.urandom(32)).decode())
