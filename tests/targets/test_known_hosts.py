import base64
import hashlib
import hmac
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.errors import UserError
from ppagent.targets.remote.address import Address, parse_address
from ppagent.targets.remote.known_hosts import fingerprint, known_host, matches

KEY = base64.b64encode(b"a key").decode()


@pytest.mark.parametrize(
    ("patterns", "name", "found"),
    [
        ("box", "box", True),
        ("BOX", "box", True),
        ("other,box", "box", True),
        ("*.gpu.example", "a.gpu.example", True),
        ("*.gpu.example,!bad.gpu.example", "bad.gpu.example", False),
        ("[box]:2222", "[box]:2222", True),
        ("box", "[box]:2222", False),
        ("[*]:2222", "[box]:2222", True),
        ("bo", "box", False),
        ("", "box", False),
        ("|1|junk", "box", False),
    ],
)
def test_names_match_as_openssh_matches_them(patterns: str, name: str, found: bool) -> None:
    assert matches(patterns, name) is found


@given(st.from_regex(r"[a-z0-9.-]{1,30}", fullmatch=True), st.binary(min_size=20, max_size=20))
def test_a_hashed_name_matches_its_host_and_no_other(name: str, salt: bytes) -> None:
    digest = hmac.new(salt, name.encode(), hashlib.sha1).digest()
    field = f"|1|{base64.b64encode(salt).decode()}|{base64.b64encode(digest).decode()}"
    assert matches(field, name)
    assert not matches(field, f"{name}x")


@given(st.lists(st.text(max_size=60), max_size=10))
def test_odd_lines_never_lose_the_good_one(junk: list[str]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "known_hosts")
        lines = [line.replace("\n", " ").replace("\r", " ") for line in junk]
        path.write_text("\n".join([*lines, "# a remark", f"box ssh-ed25519 {KEY}", "", "@revoked box"]), "utf-8")
        found = known_host("box", [path, Path(folder, "not there")])
    assert [key.blob for key in found.keys if key.blob == b"a key"] == [b"a key"]


def test_markers_are_kept_apart(tmp_path: Path) -> None:
    lines = (f"@cert-authority *.x ssh-rsa {KEY}", f"@revoked a.x ssh-rsa {KEY}", f"a.x ecdsa-sha2-nistp256 {KEY}")
    (tmp_path / "a").write_text("\n".join(lines))
    found = known_host("a.x", [tmp_path / "a"])
    assert (len(found.keys), len(found.revoked), found.authorities) == (1, 1, 1)
    assert found.kinds == ("ecdsa-sha2-nistp256",)
    assert found.keys[0].place == f"{tmp_path / 'a'}:3"


def test_a_fingerprint_looks_as_ssh_keygen_prints_it() -> None:
    digest = hashlib.sha256(b"a key").digest()
    assert fingerprint(b"a key") == f"SHA256:{base64.b64encode(digest).decode().rstrip('=')}"


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("ssh://box", Address("box")),
        ("ssh://me@gpu-box.example:2222", Address("gpu-box.example", "me", 2222)),
        ("ssh://[fe80::1%eth0]:22", Address("fe80::1%eth0", None, 22)),
        ("ssh://10.0.0.1/", Address("10.0.0.1")),
        ("box", Address("box")),
    ],
)
def test_an_address_is_taken_apart(text: str, address: Address) -> None:
    assert parse_address(text) == address


@given(st.text(max_size=40))
def test_an_address_never_looks_like_an_option(text: str) -> None:
    try:
        address = parse_address(f"ssh://{text}")
    except UserError:
        return
    assert not address.host.startswith("-")
    assert not (address.user or "").startswith("-")
    assert not set(address.host) & set(" ;|&$`'\"\\\n")
