"""The way in: the catalogue of a tree, from the cache where it was read before."""

from dataclasses import replace
from pathlib import Path

from ppagent.sglang.flags import cache
from ppagent.sglang.flags.differences import departures
from ppagent.sglang.flags.flag import Catalogue
from ppagent.sglang.flags.reader import read_tree
from ppagent.sglang.flags.source import SourceTree, find_package


def read_catalogue(tree: Path) -> Catalogue:
    """The launch flags of the SGLang in `tree`: the folder of the sglang package, or one that contains it.

    Nothing of the tree is imported. What could not be read, and what is not as published, is said in `unread`.
    Raises UserError where there is no SGLang, or none whose flags can be read.
    """
    source = SourceTree(find_package(tree))
    path = cache.entry_path(source)
    kept = cache.load(path, source)
    if kept is not None:
        return kept
    found = read_tree(source)
    found = replace(found, unread=(*found.unread, *departures(found)))
    cache.save(path, source, found)
    return found
