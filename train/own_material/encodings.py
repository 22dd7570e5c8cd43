"""Which encoding bytes are of: the one in which they are words of some language."""

from __future__ import annotations

import re
from dataclasses import dataclass
from unicodedata import category

SAMPLE = 2**16  # bytes beyond ASCII, with what stands about them, from which is told
# Letters beyond ASCII of languages, the frequent ones first, and the encodings they were kept in.
WESTERN = "cp1252 mac_roman cp850"
CENTRAL = "cp1250 iso8859_2"
CYRILLIC = "cp1251 koi8_r cp866"
LANGUAGES: tuple[tuple[str, str], ...] = (
    (WESTERN, "éèàêçôûîâùïëœüæÿ"),  # French
    (WESTERN, "üäößé"),  # German
    (WESTERN, "óíáñúéü"),  # Spanish
    (WESTERN, "ãçáéóíêõâàúôü"),  # Portuguese
    (WESTERN, "àèùòìéóî"),  # Italian
    (WESTERN, "åäöéæøü"),  # Nordic
    ("cp1252", "íáðóæþéöúý"),
    (WESTERN, "àòíèçóéúïü·"),  # Catalan
    (CENTRAL, "łążęóśćńź"),  # Polish
    (CENTRAL, "íáěřčéšžýůúňťďó"),  # Czech
    (CENTRAL, "áíčéžšýľťúôňäďŕĺ"),  # Slovak
    (CENTRAL, "áéöőíóüűú"),  # Hungarian
    (CENTRAL, "čšžćđ"),  # Croatian, Slovene
    ("cp1250 iso8859_2", "ăîâşţ"),  # Romanian
    ("cp1254", "ışüğöçİâ"),  # Turkish
    ("cp1257", "ėšįžųūąčę"),  # Lithuanian
    ("cp1257", "āīēšūļņģžčķ"),  # Latvian
    ("cp1257 cp1252", "äõüöšž"),  # Estonian
    (CYRILLIC, "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё"),  # Russian
    ("cp1251 koi8_u", "оаниівретслкмдупяьгзбчйєхжїцшщюфґ"),  # Ukrainian
    ("cp1253", "αοιετσνηυρπκμλςωδγχθάίόέήώύφβξζψϊ"),
    ("cp1255", "יוהלאתמרבשנדכםעקחפגטןץזסךףצ"),
    ("cp1256", "اليمنرتوبةعدسفهكقحجشطصخذضزثءغظئإأى"),
    ("cp874", "านรกเงมยลวดทสตปอบคหพจขชซผถแไใโะัาำิีึืุู็่้๊๋์"),
)
PUNCTUATION = frozenset("„“”‚‘’«»–—…€°§¿¡ \xa0©®№؟،、。「」・ー！？，：；（）“”《》")
KANA = re.compile(r"[\u3041-\u30fc]")
HANGUL = re.compile(r"[\uac00-\ud7a3]")
HAN = re.compile(r"[\u4e00-\u9fff]")
# Of encodings with two bytes a character: the codes of the characters that are in common use.
ASIAN = {
    "gb18030": ("gb2312", 0xB0, 0xD7),
    "big5": ("big5", 0xA4, 0xC6),
    "cp932": ("shift_jis", 0x88, 0x97),
    "euc_jp": ("euc_jp", 0xB0, 0xCF),
    "cp949": ("euc_kr", 0xB0, 0xC8),
}
# The most frequent characters of Chinese, in both forms, and of Korean.
FREQUENT = {
    "gb18030": "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得",
    "big5": "的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得",
    "cp949": "이다는에의을를가고한하지은로기도사리아그나있시서인어대자정해일습니라게들안요세",
}
# Less usual than others of their region, so that they need to read better.
RARE = {
    "mac_roman": 0.1,
    "cp850": 0.2,
    "iso8859_2": 0.1,
    "koi8_r": 0.05,
    "koi8_u": 0.05,
    "cp866": 0.25,
}
SURE = 1.0  # characters by which the best reads more of a text than another that reads otherwise


@dataclass(frozen=True)
class Guess:
    """The likeliest encoding, and another that reads otherwise and is about as likely."""

    encoding: str
    rival: str = ""


def guess(content: bytes) -> Guess:
    """Tell the encoding of bytes that are not UTF-8; Western where nothing is likely."""
    sample = _about_high(content)
    ranked: list[tuple[float, str, str]] = []
    seen: set[str] = set()
    for encoding in dict.fromkeys(e for names, _ in LANGUAGES for e in names.split()):
        text = _decoded(sample, encoding)
        if text is not None and text not in seen:  # of two that read alike the first is named
            seen.add(text)
            alphabets = [letters for names, letters in LANGUAGES if encoding in names.split()]
            score = max(_score(text, letters) for letters in alphabets)
            ranked.append((score - RARE.get(encoding, 0.0), encoding, text))
    for encoding in ASIAN:
        text = _decoded(sample, encoding)
        if text is not None and text not in seen:
            ranked.append((_asian_score(text, encoding), encoding, text))
    if not ranked:
        return Guess("cp1252")
    ranked.sort(key=lambda entry: -entry[0])
    best = ranked[0]
    beyond = max(1, sum(not character.isascii() for character in best[2]))
    near = [encoding for score, encoding, _ in ranked[1:] if score > best[0] - SURE / beyond]
    return Guess(best[1], near[0] if near else "")


def _about_high(content: bytes) -> bytes:
    """Give the words that have bytes beyond ASCII."""
    words = re.findall(rb"[^\s]*[\x80-\xff][^\n\r\t ]*", content[: SAMPLE * 16])
    return b" ".join(words)[:SAMPLE]


def _decoded(sample: bytes, encoding: str) -> str | None:
    try:
        return sample.decode(encoding)
    except UnicodeDecodeError as error:
        # The sample may end within a character.
        return sample[: error.start].decode(encoding) if error.start > len(sample) - 4 > 0 else None


def _score(text: str, letters: str) -> float:
    """Say how far characters beyond ASCII are letters in words of a language, at most 1 each."""
    rank = {letter: 1 - 0.6 * place / len(letters) for place, letter in enumerate(letters)}
    latin = letters[0] < "\u0370"
    total, count = 0.0, 0
    padded = f" {text} "
    for before, here, after in zip(padded, padded[1:], padded[2:], strict=False):
        if here.isascii():
            continue
        count += 1
        about = (before + after).replace(" ", "")
        if here.isalpha() or category(here) in ("Mn", "Mc"):
            known = rank.get(here, rank.get(here.lower(), -0.7))
            if here.isupper() and before.islower():
                known = -1.5  # no capital within a word
            elif here.isupper() and after.islower() and here != "İ":
                known -= 0.1
            if not latin and any(c.isascii() and c.isalpha() for c in about):
                known = -1.0  # letters of two scripts in a word
            elif not about and (not latin or here.isupper()):
                known *= 0.6  # one letter is no word yet
            total += known
        elif here in PUNCTUATION:
            inside = before.isalpha() and after.isalpha() and here not in "’–"
            total += -1.0 if inside else 0.4
        else:
            total += -1.0
    return total / count if count else 0.0


def _asian_score(text: str, encoding: str) -> float:
    total, count = 0.0, 0
    korean, japanese = encoding == "cp949", encoding in ("cp932", "euc_jp")
    kana = bool(KANA.search(text))
    padded = f" {text} "
    for before, here, after in zip(padded, padded[1:], padded[2:], strict=False):
        if here.isascii():
            continue
        count += 1
        if any(c.isascii() and c.isalpha() for c in before + after) and here not in PUNCTUATION:
            total -= 0.5
        elif here in PUNCTUATION:
            total += 0.6
        elif HANGUL.match(here):
            total += _common(here, encoding) if korean else -1.0
        elif KANA.match(here):
            total += 1.0 if japanese else -0.3
        elif HAN.match(here):
            usual = _common(here, encoding)
            if korean:
                usual = -0.6
            elif japanese and not kana:
                usual -= 0.3  # Japanese has kana between its characters
            total += usual
        else:
            total -= 0.8
    return total / count if count else 0.0


def _common(character: str, encoding: str) -> float:
    """Say how usual a character is in the language of an encoding."""
    codec, low, high = ASIAN[encoding]
    if character in FREQUENT.get(encoding, ""):
        return 1.0
    try:
        usual = low <= character.encode(codec)[0] <= high
    except UnicodeEncodeError:
        return -0.5
    return 0.7 if usual else -0.2
