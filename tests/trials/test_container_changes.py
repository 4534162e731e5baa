from ppagent.trials.container_changes import lost_by_a_new_one

USUAL = """C /etc
C /opt
A /opt/models
C /root
A /root/.cache
A /root/.cache/flashinfer
A /root/.cache/flashinfer/0.2/ops.so
A /root/.triton/cache/x.json
C /tmp
A /tmp/sock
C /usr/lib/python3/dist-packages/sglang/srt/__pycache__
A /usr/lib/python3/dist-packages/sglang/srt/__pycache__/x.cpython-310.pyc
A /var/log/x.log
"""


def test_caches_mounts_and_what_every_run_writes_are_no_loss() -> None:
    assert lost_by_a_new_one(USUAL, ["/opt/models"]) == ()


def test_a_mount_inside_a_folder_that_was_made_for_it_is_no_loss() -> None:
    assert lost_by_a_new_one("A /a\nA /a/b\nA /a/b/c\n", ["/a/b/c"]) == ()


def test_a_package_that_was_installed_and_a_model_that_was_fetched_are_lost() -> None:
    diff = USUAL + (
        "C /usr\nC /usr/lib\nA /usr/lib/python3/dist-packages/mine/__init__.py\n"
        "A /root/.cache/huggingface\nA /root/.cache/huggingface/hub\nA /root/.cache/huggingface/hub/models--x\n"
    )
    assert lost_by_a_new_one(diff, ["/opt/models"]) == (
        "/root/.cache/huggingface/hub/models--x",
        "/usr/lib/python3/dist-packages/mine/__init__.py",
    )


def test_a_file_that_was_edited_or_deleted_is_lost() -> None:
    assert lost_by_a_new_one("C /sgl/server_args.py\nD /sgl/old.py\n", []) == ("/sgl/old.py", "/sgl/server_args.py")
