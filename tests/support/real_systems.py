"""Memories to be measured, each with a habit of its own."""


class Newest:
    """Keeps the newest, within its capacity."""

    def __init__(self, capacity):
        self.capacity, self.kept, self.facts = capacity, [], []

    def add(self, text, **facts):
        self.facts.append(facts)
        self.kept = [*self.kept, {"id": facts["id"], "text": text}][-self.capacity :]

    def contents(self):
        return self.kept


class Everything:
    """Keeps everything, as texts alone."""

    def __init__(self):
        self.kept = []

    def add(self, text, **facts):
        self.kept.append(f"  {text.upper()} ")

    def contents(self):
        return self.kept

    def search(self, query, k):
        return [text for text in self.kept if "SEA" in text][:k]


class Forgetful(Everything):
    """Gives up all it has with each third statement."""

    def add(self, text, **facts):
        if int(facts["id"]) % 3 == 2:
            self.kept.clear()
        super().add(text)


class Rewording(Everything):
    """Keeps what nobody said."""

    def add(self, text, **facts):
        self.kept.append(f"It is said that {text}")


class Failing(Newest):
    def add(self, text, **facts):
        raise RuntimeError("the index\nis broken")


class Deaf(Newest):
    def add(self, text):
        """Take no facts."""


class Odd(Newest):
    def contents(self):
        return {"a": 1}


class Unfinished:
    def add(self, text, **facts):
        """List nothing."""


class Broken:
    def __init__(self):
        raise OSError("no licence")
