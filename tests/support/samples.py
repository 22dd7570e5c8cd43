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


def musique(name):
    """One question of MuSiQue: two of three paragraphs are needed."""
    paragraphs = (
        ("Ida", "Ida lives in Oslo.", True),
        ("Oslo", "Oslo lies in Norway.", True),
        ("Rain", "It rains.", False),
    )
    return {
        "id": name,
        "paragraphs": [
            {"idx": n, "title": title, "paragraph_text": text, "is_supporting": marked}
            for n, (title, text, marked) in enumerate(paragraphs)
        ],
        "question": "In which country does Ida live?",
        "answer": "Norway",
        "answerable": True,
    }


def hotpotqa(name):
    """One question of HotpotQA or 2WikiMultihopQA."""
    return {
        "_id": name,
        "question": "In which country does Ida live?",
        "answer": "Norway",
        "supporting_facts": [["Ida", 0], ["Oslo", 0]],
        "context": [
            ["Ida", ["Ida lives in Oslo.", " She is tall."]],
            ["Oslo", ["Oslo lies in Norway."]],
        ],
    }


def strategyqa(name):
    """One question of StrategyQA."""
    return {
        "qid": name,
        "term": "Ice",
        "question": f"Does ice sink? ({name})",
        "answer": False,
        "facts": ["Ice floats.", "What floats does not sink."],
    }


def climate_fever(name):
    """One claim of CLIMATE-FEVER, with two of its sentences."""
    return {
        "claim_id": name,
        "claim": f"It warms. ({name})",
        "claim_label": "SUPPORTS",
        "evidences": [
            {
                "evidence_id": f"Climate:{name}",
                "evidence_label": "SUPPORTS",
                "article": "Climate",
                "evidence": f"The mean temperature rises ({name}).",
                "entropy": 0.0,
                "votes": ["SUPPORTS", "SUPPORTS", None, None, None],
            },
            {
                "evidence_id": f"Weather:{name}",
                "evidence_label": "NOT_ENOUGH_INFO",
                "article": "Weather",
                "evidence": f"Weather varies ({name}).",
                "entropy": 0.69,
                "votes": ["NOT_ENOUGH_INFO", "REFUTES", None, None, None],
            },
        ],
    }


def longmemeval(name):
    """One question of LongMemEval, its sessions out of order."""
    return {
        "question_id": name,
        "question_type": "single-session-user",
        "question": "What is my cat called?",
        "answer": "Mia",
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_dates": ["2023/05/21 (Sun) 14:21", "2023/05/20 (Sat) 02:21"],
        "haystack_session_ids": ["s2", "s1"],
        "haystack_sessions": [
            [{"role": "user", "content": "Nice weather."}],
            [
                {"role": "user", "content": "My cat is called Mia.", "has_answer": True},
                {"role": "assistant", "content": "Lovely.", "has_answer": False},
            ],
        ],
        "answer_session_ids": ["s1"],
    }
