"""What genmcp costs, next to the plain thing under it, measured in the same run.

A microsecond says little about another machine; a ratio to bare trio or to a stock Hypercorn, taken alternately in
one run, says more. `python -m benchmarks` measures, prints a table and keeps the figures as JSON; nothing here is
imported by the product.
"""
