"""Small files in the shapes of published data sets."""

from __future__ import annotations

import json


def turn(name, text="Hello.", **more):
    return {"speaker": "Ada", "dia_id": name, "text": text, **more}


def asked(*evidence, category=1, answer="yes"):
    return {"question": "Did it?", "answer": answer, "evidence": [*evidence], "category": category}


def sample(*questions, **conversation):
    return {
        "sample_id": "conv-1",
        "qa": list(questions) or [asked("D1:1")],
        "conversation": {
            "speaker_a": "Ada",
            "speaker_b": "Bob",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                turn("D1:1", "Look at this."),
                turn("D1:2", "Nice!", speaker="Bob", blip_caption="a red kite", img_url=["u"]),
                turn("D1:3", "", blip_caption="a cat"),
            ],
            "session_2_date_time": "1:56 am on 10 May, 2023",
            "session_2": [turn("D2:1"), turn("D2:2")],
            **conversation,
        },
        "session_summary": {},
    }


def write_locomo(tmp_path, value):
    path = tmp_path / "locomo.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path
