from transport.stdio.lines import OVERSIZE, Lines


def test_pieces_make_whole_lines() -> None:
    lines = Lines(100)
    assert lines.feed(b"one\ntw") == [b"one"]
    assert lines.feed(b"o") == []
    assert lines.feed(b"\nthree\n\n") == [b"two", b"three", b""]


def test_line_of_the_very_limit_is_kept() -> None:
    lines = Lines(4)
    assert lines.feed(b"four\nfives\nsix\n") == [b"four", OVERSIZE, b"six"]


def test_long_line_is_told_once_and_skipped() -> None:
    lines = Lines(10)
    told = [line for _ in range(1000) for line in lines.feed(b"x" * 100)]
    assert told == [OVERSIZE]
    assert lines.feed(b"xx\nnext\n") == [b"next"]


def test_long_line_is_not_kept() -> None:
    lines = Lines(10)
    for _ in range(100):
        lines.feed(b"x" * 65536)
    assert len(lines._begun) == 0


def test_last_line_needs_no_end() -> None:
    lines = Lines(10)
    assert lines.feed(b"a\nb") == [b"a"]
    assert lines.end() == [b"b"]
    assert lines.end() == []


def test_nothing_is_left_of_blanks_and_skipped_lines() -> None:
    lines = Lines(10)
    lines.feed(b"a\n \r")
    assert lines.end() == []
    lines.feed(b"x" * 100)
    assert lines.end() == []
