"""The memorization environment: a sequential decision process over what to remember.

State: the memory, what was read and what was settled so far. Action: which claim to write and what
to give up for it. Reward: the utility of the queries settled in the step, after the writes that
earned it (Table 2 of the paper). Episode: a material drawn from p(D), memory empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from memenvs.envs.family import MEMORIZATION
from memenvs.envs.memorization.episode import Episode
from memenvs.envs.memorization.layout import Layout
from memenvs.envs.memorization.observation import observe
from memenvs.envs.memorization.prepared import Materials
from memenvs.envs.memorization.privileged import Privileged
from memenvs.envs.memorization.render.renderer import FPS, MODES, Renderer, RenderMode
from memenvs.envs.memorization.rules import (
    HISTORY,
    MAX_POOL,
    Access,
    Action,
    Actions,
    Disclosure,
    Feedback,
    Rules,
    Settlement,
    Utility,
)
from memenvs.envs.single import Observation, SingleEnv
from memenvs.material.incidence import BoolArray
from memenvs.material.material import Material
from memenvs.materials.library import Source
from memenvs.objective import Objective
from memenvs.reading.answers import ALL


class MemorizationEnv(SingleEnv):
    """Read a material claim by claim, keep at most ``capacity`` claims, be paid by later queries.

    Args:
        material: a registered name or tier, a file, ``"module:callable"``, a callable (one with an
            argument is given a generator and draws a fresh material each episode), a material or
            several.
        split: ``"train"`` (default), ``"validation"``, ``"test"`` or ``"ood"`` of a tier of
            generated materials; other materials have none.
        capacity: slots; by default a quarter of the claims, at least 1.
        access: ``"stream"``: claims arrive in order; ``"pool"``: the agent picks one to consider.
        action: ``"slots"``: pass, or write into a slot; ``"priority"``: give the claim a priority
            in [-1, 1], and the highest are kept.
        disclosure: ``"one"``: a single query, known before writing (level 0); ``"all"``: every
            query with its mass (1a); ``"settled"``: a query shows when it is settled (1b, 2).
        utility: what a settled query pays: ``"coverage"``, ``"precision"`` or ``"end-to-end"``.
        reader: ``"all"``: every spanned item is read; ``"similarity:K"`` or ``"bm25:K"``: for each
            query the K that rank highest, so that more memory can hurt; ``"tokens:N"``: the most
            similar ones whose summed cost is at most N.
        settlement: ``"sampled"`` pays the drawn queries, ``"expected"`` their exact expectation.
        feedback: after a settlement the agent sees the query, the outcome and the records of the
            ``"claims"`` behind it; the query and its ``"outcome"``; or ``"none"`` of it.
        every, queries, closing: after every ``every`` decisions ``queries`` are settled (``None``:
            never before the end), and ``closing`` end the episode.
        decisions: length of an episode under pool access (default: two for each claim).
        clearing: whether slots can be cleared without writing (always, under a budget).
        budget: bound on the summed cost of the stored claims, besides ``capacity``; generated
            claims then cost their tokens.
        strict: raise ``ValueError`` on an illegal action instead of counting it as a pass.
        max_claims, max_queries: maxima where a callable draws materials of many sizes.
        render_mode: ``"ansi"`` (text), ``"rgb_array"`` (pixels) or ``"human"`` (a window); all of
            them show truth and expected utility, which no agent sees.

    ``reset(options={"material": material})`` plays a given material, or the one of that number.
    At the end of an episode ``info`` holds coverage, precision, water_inflation and size of the
    final memory in expectation, its utility, and the settled total; before it they are zero, and
    ``info["final"]`` is False.
    """

    family = MEMORIZATION
    metadata: dict[str, Any] = {  # noqa: RUF012 - Gymnasium's declaration
        "render_modes": list(MODES),
        "render_fps": FPS,
    }

    def __init__(
        self,
        material: Source | Sequence[Material],
        *,
        split: str | None = None,
        capacity: int | None = None,
        access: Access = "stream",
        action: Action = "slots",
        disclosure: Disclosure = "settled",
        utility: Utility = "precision",
        reader: str = ALL,
        settlement: Settlement = "sampled",
        feedback: Feedback = "claims",
        every: int | None = None,
        queries: int = 1,
        closing: int = 15,
        decisions: int | None = None,
        clearing: bool = False,
        budget: float | None = None,
        strict: bool = False,
        max_claims: int | None = None,
        max_queries: int | None = None,
        render_mode: RenderMode | None = None,
    ) -> None:
        self.open(render_mode)
        self._renderer = Renderer(render_mode)
        self.materials = Materials(
            material,
            split=split,
            tokens=budget is not None,
            max_claims=max_claims,
            max_queries=max_queries,
        )
        limits = self.materials.limits
        self.rules = Rules(
            capacity=max(1, limits.claims // 4) if capacity is None else capacity,
            access=access,
            action=action,
            disclosure=disclosure,
            utility=utility,
            reader=reader,
            settlement=settlement,
            feedback=feedback,
            every=every,
            queries=queries,
            closing=closing,
            decisions=decisions,
            clearing=clearing,
            budget=budget,
            strict=strict,
        )
        if access == "pool" and limits.claims > MAX_POOL:
            raise ValueError(
                f"access='pool' shows at most {MAX_POOL} claims and the material has "
                f"{limits.claims}; use access='stream'"
            )
        self.layout = Layout(
            limits,
            pool=access == "pool",
            priority=action == "priority",
            query_rows={"one": 1, "all": limits.queries, "settled": HISTORY}[disclosure],
            reads=Objective.of(self.rules).limited,
        )
        self.actions = Actions(
            self.rules.capacity, self.rules.clears, limits.claims if access == "pool" else 0
        )
        self.action_space = (
            spaces.Box(-1.0, 1.0, (1,)) if action == "priority" else spaces.Discrete(self.actions.n)
        )
        self.observation_space = self.layout.space(
            self.rules.capacity, 1 if action == "priority" else self.actions.n
        )
        self.episode: Episode | None = None

    @property
    def material(self) -> Material:
        """The episode's material; for oracles and evaluation, not for policies."""
        return self._episode.prepared.material

    @property
    def memory(self) -> BoolArray:
        """What is stored: ``(n_claims,)``."""
        return self._episode.memory

    @property
    def illegal(self) -> int:
        """Illegal actions of the episode so far."""
        return self._episode.illegal

    def privileged_views(self) -> list[Privileged]:
        """Give what an oracle may know of the episode: a list of one."""
        episode = self._episode
        return [
            Privileged(
                episode.prepared.number,
                episode.considered,
                episode.slots.claims.copy(),
                lambda: episode.prepared.material,
                episode.known_query,
            )
        ]

    def action_masks(self) -> BoolArray:
        """Legal actions ``(n,)``; never all False."""
        return self._episode.mask()

    def check_instance(self, given: Any) -> Material:
        """Give a material that fits, or the one of that number."""
        if not isinstance(given, Material):
            return self.materials[given]
        self.materials.prepare(given, self.layout)
        return given

    def begin(self, key: np.uint64, wanted: Material | None) -> None:
        """Begin an episode with a material and an empty memory."""
        material = self.materials.draw(key) if wanted is None else wanted
        prepared = self.materials.prepare(material, self.layout)
        self.episode = Episode(self.rules, self.actions, self.layout, prepared, key)

    def act(self, action: Any) -> float:
        """Take one decision; the reward is what was settled after it."""
        return self._episode.decide(action)

    def over(self) -> tuple[bool, bool]:
        """Say whether every decision was taken."""
        return self._episode.is_over(), False

    def observe(self) -> Observation:
        """Give what the layout describes, and the mask where actions are numbered."""
        return observe(self._episode, self.layout) | self._episode.shown_mask()

    def finals(self) -> dict[str, Any]:
        """Utilities of the memory, whatever the reward was."""
        result = self.material.evaluate(self.memory)
        return {
            "coverage": float(result.coverage),
            "precision": float(result.precision),
            "water_inflation": float(result.water_inflation),
            "size": int(result.size),
            "utility": self._episode.account.expected(self.memory),
            "settled": self._episode.earned,
        }

    def frame(self) -> Any:
        """Give text (``ansi``) or pixels (``rgb_array``), or show the episode in a window."""
        return self._renderer.render(self._episode)

    def close(self) -> None:
        """Close the window, if one is open."""
        self._renderer.close()

    @property
    def _episode(self) -> Episode:
        if self.episode is None:
            raise RuntimeError("no episode has begun; call reset()")
        return self.episode
