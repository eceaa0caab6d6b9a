"""Runs made of what other tools traced: Darshan, DFTracer, strace.

One file per format hands calls, or sums of calls, to `writer`, which makes a run like any other.
"""
