import pytest
from model_samples import DEFAULT_SPLIT, HEAD_AWARE_SPLIT, KIMI, LLAMA_8B

from ppagent.model.architecture import read_architecture
from ppagent.model.pool import Layout, Pool

# The seed's start-up log.
SEED = Pool(
    weights_gib=(53.51, 58.82, 58.82, 67.22, 67.22, 67.22, 67.22, 69.41),
    kv_gib=(11.36, 11.36, 11.36, 12.98, 12.98, 12.98, 12.98, 12.98),
    tokens=1_512_448,
    budget_gib=69.41 + 12.98,
    free_gib=(29.03, 23.72, 23.72, 13.70, 13.70, 13.70, 13.70, 11.51),
)
NOW, THEN = Layout(DEFAULT_SPLIT), Layout(HEAD_AWARE_SPLIT)


def test_what_the_fullest_card_gives_up_in_weights_the_pool_of_all_stages_gets() -> None:
    after = SEED.after(read_architecture(KIMI), NOW, THEN)
    # By hand from the log alone: eight layers take 67.22 GiB on every stage that holds them now, so 82.39 - 67.22 =
    # 15.17 GiB are left, at 12.98 GiB for 1,512,448 tokens in eight layers.
    assert max(after.weights_gib) == pytest.approx(67.22, abs=0.1)
    assert after.tokens == pytest.approx(15.17 / 12.98 * 1_512_448, rel=0.01)
    assert after.kv_gib[-1] == pytest.approx(after.kv_gib[0] * 5 / 8)
    # What is kept back stays kept back: the fullest card is as free as the fullest one was.
    assert min(after.free_gib) == pytest.approx(11.51, abs=0.02)


def test_the_same_split_changes_nothing() -> None:
    same = SEED.after(read_architecture(KIMI), NOW, NOW)
    assert same.tokens == pytest.approx(SEED.tokens, rel=1e-5)
    assert same.weights_gib == pytest.approx(SEED.weights_gib)
    assert same.free_gib == pytest.approx(SEED.free_gib, abs=0.01)  # as the log rounds


def test_a_stage_that_takes_the_whole_budget_leaves_no_tokens() -> None:
    assert SEED.after(read_architecture(KIMI), NOW, Layout((10, 10, 10, 10, 9, 4, 4, 4))).tokens == 0


def test_a_bound_of_the_launch_holds_after_too() -> None:
    bound = Pool(SEED.weights_gib, SEED.kv_gib, SEED.tokens, SEED.budget_gib, SEED.free_gib, most_tokens=SEED.tokens)
    assert bound.after(read_architecture(KIMI), NOW, THEN).tokens == SEED.tokens


def test_eight_ranks_hold_an_eighth_of_an_mla_models_tokens_since_each_keeps_the_whole_latent() -> None:
    model = read_architecture(KIMI)
    one_stage = SEED.tokens_in(model, NOW, Layout((61,), tp=8))
    # By hand: 509 GiB over eight cards are 63.7, so 18.7 GiB are left for 61 layers of what eight took 12.98 GiB for.
    assert one_stage == pytest.approx((82.39 - 509.4 / 8) / 12.98 * 8 / 61 * 1_512_448, rel=0.02)


def test_heads_are_divided_so_that_a_dense_model_holds_as_many_in_every_shape() -> None:
    model = read_architecture(LLAMA_8B)
    seen = Pool((3.5,) * 4, (20.0,) * 4, 655_360, 23.5)
    shapes = [Layout((8,) * 4), Layout((16,) * 2, 2, 2), Layout((32,), 4, 4)]
    held = [seen.tokens_in(model, shapes[0], each) for each in shapes]
    assert max(held) < 1.1 * min(held)
    assert held[0] == pytest.approx(655_360, rel=0.05)


@pytest.mark.parametrize("tokens", [0, 100_000, 1_512_448])
def test_weights_at_the_limit_leave_the_tokens_asked_for(tokens: int) -> None:
    model = read_architecture(KIMI)
    scale = sum(SEED.weights_gib) / sum(NOW.weights_gib(model))
    limit = scale * SEED.weight_limit_gib(model, NOW, tokens)
    assert (SEED.budget_gib - limit) / 12.98 * SEED.tokens == pytest.approx(tokens, abs=1)
