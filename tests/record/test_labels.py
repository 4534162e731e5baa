"""Hosts are called by labels that can name a folder, never by their address."""

from hypothesis import given
from hypothesis import strategies as st

from ppagent.record.labels import labels


def test_a_name_stays_and_an_address_becomes_a_number() -> None:
    assert labels(["gpu-box", "10.1.2.3", "fe80::1"]) == {
        "gpu-box": "gpu-box", "10.1.2.3": "host-1", "fe80::1": "host-2",
    }  # fmt: skip


def test_names_that_would_share_a_folder_are_numbered() -> None:
    assert list(labels(["a b", "a/b", "a-b"]).values()) == ["a-b", "a-b-2", "a-b-3"]


@given(st.lists(st.text(max_size=12), unique=True, max_size=6))
def test_every_host_has_a_folder_of_its_own_below_hosts(hosts: list[str]) -> None:
    found = labels(hosts)
    assert len(set(found.values())) == len(hosts)
    assert all(name not in ("", ".", "..") and "/" not in name and name[0] != "." for name in found.values())
