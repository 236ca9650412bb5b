"""``python -m genmcp``: see `genmcp.cli`."""

from genmcp.cli import main

if __name__ == "__main__":
    main()
