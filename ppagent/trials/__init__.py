"""Experiments on a running server: a live setting (`live`), or another launch (`relaunch`).

Nothing is changed before a note of how to undo it is on the disk (`note`), nothing stays changed by accident (`change`,
`relaunch`), and nothing is called better that noise could explain (`noise`).
"""
