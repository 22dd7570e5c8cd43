"""FriendsQA (Yang and Choi, 2019): scenes of a television series with questions about them.

A claim is an utterance, a query a question; each utterance that holds an answer is a support by
itself.
"""

from __future__ import annotations

import os
from typing import Any

from memenvs.errors import MaterialError
from memenvs.material.records import Claim, Query
from memenvs.materials.datasets.conversion import Conversion, expect, member
from memenvs.materials.datasets.questions import Draft, objects
from memenvs.strict_json import read_json_documents

SCENES = 12  # to a material: 200 claims and 100 questions, about


def read_friendsqa(path: str | os.PathLike[str], scenes: int = SCENES) -> Conversion:
    """Read FriendsQA as published: ``scenes`` to a material, in order; what remains is left out.

    Source = the first speaker, group = the scene. A question none of whose answers names an
    utterance of the scene is left out. Raises ``MaterialError`` that names the file, the scene and
    the field.
    """
    file = os.fspath(path)
    documents = read_json_documents(path)
    try:
        if len(documents) != 1:
            raise MaterialError("holds several JSON values, not one object of scenes")
        expect(documents[0][1], dict, "scenes")
        listed = objects(member(documents[0][1], "data", list), "data", "a scene")
        if scenes < 1 or len(listed) < scenes:
            raise MaterialError(f"holds {len(listed)} scenes, and {scenes} make a material")
        drafts = []
        for start in range(0, len(listed) - scenes + 1, scenes):
            draft = Draft(f"scenes-{start + 1}-{start + scenes}", [])
            for place in range(start, start + scenes):
                try:
                    _add(draft, listed[place])
                except MaterialError as error:
                    raise error.within("", f"data[{place}]") from None
            drafts.append(draft)
        materials = tuple(draft.material() for draft in drafts)
    except MaterialError as error:
        raise error.within(file) from None
    return Conversion(materials, tuple(note for draft in drafts for note in draft.notes))


def _add(draft: Draft, scene: dict[str, Any]) -> None:
    title = member(scene, "title", str)
    for number, part in enumerate(
        objects(member(scene, "paragraphs", list), "paragraphs", "a paragraph")
    ):
        named = f"{title}:{number}"
        spoken = {}
        # The data set spells the key with a colon.
        for said in objects(member(part, "utterances:", list), "utterances:", "an utterance"):
            speakers = member(said, "speakers", list)
            uid = member(said, "uid", int)
            claim = Claim(
                id=f"{named}:{uid}",
                text=member(said, "utterance", str),
                source=str(speakers[0]) if speakers else "",
                group=title,
            )
            spoken[uid] = draft.claim(claim.id, claim)
        for asked in objects(member(part, "qas", list), "qas", "a question"):
            answers = objects(member(asked, "answers", list), "answers", "an answer")
            places = [member(answer, "utterance_id", int) for answer in answers]
            supports = [(spoken[place],) for place in places if place in spoken]
            name = f"{number}:{member(asked, 'id', str)}"
            if not supports:
                draft.note("left out", name, "no answer names an utterance", "utterance_id")
                continue
            text = str(member(answers[0], "answer_text", str))
            draft.ask(Query(id=name, text=member(asked, "question", str), answer=text), *supports)
