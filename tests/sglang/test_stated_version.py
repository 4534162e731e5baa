import pytest

from ppagent.sglang.stated_version import stated_version


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("SGLang 0.5.11, PP8", "0.5.11"),
        ("sglang==0.5.11", "0.5.11"),
        ("pip: sglang             0.5.3.post1", "0.5.3.post1"),
        ("image lmsysorg/sglang:v0.5.11-cu126", "0.5.11"),
        ("sglang version: 0.5.11.", "0.5.11"),
        ("sglang-0.5.10rc1", "0.5.10rc1"),
        ("when i use sglang official v0.5.10 image deploy glm5", "0.5.10"),
        ("SGLang is on 0.5.4.post1 here", "0.5.4.post1"),
        ("SGLang at 1.2 req/s", ""),
        ("SGLang is 2.5 times slower", ""),
        ("SGLang 2.5 times slower than before", ""),
        ("SGLang 1.5x faster", ""),
        ("we run vllm 0.9.1", ""),
    ],
)
def test_the_version_as_people_and_package_lists_write_it(text: str, version: str) -> None:
    assert stated_version(text) == version
