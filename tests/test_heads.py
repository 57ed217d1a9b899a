from __future__ import annotations

import math
from collections.abc import Iterator

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor  # noqa: E402

from index.heads import Heads, heads_from  # noqa: E402

pytestmark = pytest.mark.models

OPTIONS = {"irregularity": ["tea", "fire", ""], "spilled": ["yes", "no", ""], "who": ["north", ""]}
COUNT = 8
"""Options of all questions together."""
WIDTH = 16


@pytest.fixture(autouse=True)
def _seeded() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # quicker for what is small, and the sums come in one order
    with torch.random.fork_rng():
        torch.manual_seed(2017)
        yield
    torch.set_num_threads(threads)


def units(*shape: int) -> Tensor:
    """Vectors of length 1, like embeddings."""
    return torch.nn.functional.normalize(torch.randn(*shape), dim=-1)


def made() -> Heads:
    """Heads as they begin, with weights that are not all zero where training would have changed them."""
    heads = Heads(OPTIONS, units(len(OPTIONS), WIDTH), units(COUNT, WIDTH)).eval()
    with torch.no_grad():
        for weights in (heads.query_change, heads.option_change, heads.bias):
            weights.copy_(torch.randn_like(weights))
    return heads


def plain() -> Heads:
    """Untrained heads of width 4 and one question; the texts of its options are a, b, and the opposite of a."""
    a, b = torch.tensor([1.0, -1.0, 0.0, 0.0]) / math.sqrt(2), torch.tensor([0.0, 0.0, 1.0, -1.0]) / math.sqrt(2)
    return Heads({"which": ["a", "b", "not a"]}, units(1, 4), torch.stack([a, b, -a])).eval()


def test_the_probabilities_of_each_question_sum_to_one() -> None:
    states, mask = units(5, 7, WIDTH), torch.ones(5, 7)
    found = made().read(states, mask)
    assert len(found) == 5
    for text in found:
        assert {name: list(chances) for name, chances in text.items()} == OPTIONS
        for chances in text.values():
            assert sum(chances.values()) == pytest.approx(1.0, abs=1e-5)
            assert min(chances.values()) > 0


def test_a_question_is_answered_for_itself_whatever_another_scores() -> None:
    heads = made()
    states, mask = units(1, 7, WIDTH), torch.ones(1, 7)
    (before,) = heads.read(states, mask)
    with torch.no_grad():
        heads.bias[3] += 20.0  # "yes" of spilled
    (after,) = heads.read(states, mask)
    assert after["spilled"]["yes"] > 0.999 > before["spilled"]["yes"]
    assert after["irregularity"] == pytest.approx(before["irregularity"], abs=1e-4)
    assert after["who"] == pytest.approx(before["who"], abs=1e-4)


def test_the_probabilities_sum_to_one_however_far_the_questions_scores_lie_apart() -> None:
    heads = made()
    with torch.no_grad():
        heads.bias[3] += 120.0
    (found,) = heads.read(units(1, 7, WIDTH), torch.ones(1, 7))
    assert sum(found["irregularity"].values()) == pytest.approx(1.0, abs=1e-5)


def test_a_column_is_found_by_question_and_option() -> None:
    heads = made()
    assert list(heads.places().items()) == [
        (("irregularity", "tea"), 0),
        (("irregularity", "fire"), 1),
        (("irregularity", ""), 2),
        (("spilled", "yes"), 3),
        (("spilled", "no"), 4),
        (("spilled", ""), 5),
        (("who", "north"), 6),
        (("who", ""), 7),
    ]
    states, mask = units(2, 5, WIDTH), torch.ones(2, 5)
    logs, found = heads(states, mask).detach(), heads.read(states, mask)
    assert logs.shape == (2, COUNT)
    for text in range(2):
        for (name, option), column in heads.places().items():
            assert found[text][name][option] == pytest.approx(math.exp(logs[text, column]), abs=1e-6)


def test_what_the_mask_leaves_out_does_not_matter() -> None:
    heads, states, mask = made(), units(3, 9, WIDTH), torch.ones(3, 9)
    mask[1, 4:] = 0
    padded = states.clone()
    padded[1, 4:] = 1e3 * torch.randn(5, WIDTH)
    with torch.inference_mode():
        expected = heads(states[1:2, :4], torch.ones(1, 4))[0]
        found = heads(padded, mask)
        assert torch.allclose(found[1], expected, atol=1e-5)
        assert torch.allclose(found[0], heads(states[:1], torch.ones(1, 9))[0], atol=1e-5), "nor what else is in the batch"
        assert not torch.allclose(heads(padded, torch.ones(3, 9))[1], expected, atol=1e-2)


def test_tokens_that_count_do_matter_to_each_question_by_itself() -> None:
    """Attention: with the same mean, what a question looks at decides."""
    heads = made()
    with torch.no_grad():
        heads.query.weight.mul_(20)
        heads.key.weight.mul_(20)
    one = units(1, 2, WIDTH)
    other = torch.stack([one[0].mean(0) * 2 - units(WIDTH), units(WIDTH)])[None]
    other[0, 1] = 2 * one[0].mean(0) - other[0, 0]
    assert torch.allclose(one.mean(1), other.mean(1), atol=1e-6)
    with torch.inference_mode():
        assert not torch.allclose(heads(one, torch.ones(1, 2)), heads(other, torch.ones(1, 2)), atol=1e-2)


def test_an_untrained_option_is_chosen_by_the_likeness_of_its_text() -> None:
    """Worked by hand.

    All tokens are (1, -1, 0, 0): attention gives half of it, the mean the whole: (1.5, -1.5, 0, 0), normed (√2, -√2, 0, 0).
    The options score 6 · (2, 0, -2) / √4 = 6, 0, -6.
    """
    (found,) = plain().read(torch.tensor([1.0, -1.0, 0.0, 0.0]).expand(1, 3, 4), torch.ones(1, 3))
    whole = math.exp(6) + 1 + math.exp(-6)
    assert found["which"] == pytest.approx(
        {"a": math.exp(6) / whole, "b": 1 / whole, "not a": math.exp(-6) / whole}, rel=1e-3, abs=1e-8
    )


def test_before_training_the_option_nearest_to_a_text_wins_in_every_question() -> None:
    anchors = units(COUNT, 64)
    heads = Heads(OPTIONS, units(len(OPTIONS), 64), anchors).eval()
    for (name, option), column in heads.places().items():
        (found,) = heads.read((anchors[column] + 0.05 * torch.randn(6, 64))[None], torch.ones(1, 6))
        assert max(found[name], key=found[name].__getitem__) == option


def test_a_small_task_is_learned_in_a_few_steps() -> None:
    """Each text has one token for each question and three of noise; the heads must look at the right one."""
    words, noise = units(COUNT, WIDTH), units(20, WIDTH)
    anchors = torch.zeros(COUNT, WIDTH)  # their texts tell nothing
    heads = Heads(OPTIONS, units(len(OPTIONS), WIDTH), anchors)
    starts, sizes = (0, 3, 6), (3, 3, 2)

    def texts(count: int) -> tuple[Tensor, Tensor]:
        """Token states, and the columns that are right, shape ``(count, questions)``."""
        right = torch.stack([s + torch.randint(n, (count,)) for s, n in zip(starts, sizes, strict=True)], dim=1)
        return torch.cat([words[right], noise[torch.randint(20, (count, 3))]], dim=1), right

    def share_right() -> float:
        heads.eval()
        states, right = texts(200)
        with torch.inference_mode():
            logs = heads(states, torch.ones(200, 6))
        best = [s + logs[:, s : s + n].argmax(1) for s, n in zip(starts, sizes, strict=True)]
        return float((torch.stack(best, dim=1) == right).float().mean())

    assert share_right() < 0.6
    weights = list(heads.parameters())
    heads.train()
    for _ in range(40):
        states, right = texts(64)
        loss = -heads(states, torch.ones(64, 6)).gather(1, right).mean()
        with torch.no_grad():  # by hand: the import of torch.optim alone takes seconds
            for weight, slope in zip(weights, torch.autograd.grad(loss, weights), strict=True):
                weight.sub_(0.01 * slope.sign())
    assert share_right() > 0.95


def test_stored_heads_give_the_same() -> None:
    heads = made()
    with torch.no_grad():
        for weights in heads.parameters():
            weights.copy_(weights.half())  # what half precision can hold
        heads.queries.copy_(heads.queries.half())
        heads.anchors.copy_(heads.anchors.half())
    stored = {name: tensor.half() for name, tensor in heads.state_dict().items()}
    loaded = heads_from({name: list(of_one) for name, of_one in heads.options.items()}, stored)
    states, mask = units(2, 5, WIDTH), torch.ones(2, 5)
    assert loaded.read(states, mask) == heads.read(states, mask)
    assert loaded.read(states, mask) == loaded.read(states, mask), "nothing is left to chance once trained"
    assert loaded.places() == heads.places()


def test_stored_heads_of_other_options_are_not_taken() -> None:
    with pytest.raises((RuntimeError, ValueError)):
        heads_from({**OPTIONS, "cloth": ["yes", ""]}, made().state_dict())


def test_while_training_something_is_left_to_chance() -> None:
    heads = made().train()
    states, mask = units(1, 5, WIDTH), torch.ones(1, 5)
    assert not torch.equal(heads(states, mask), heads(states, mask))
