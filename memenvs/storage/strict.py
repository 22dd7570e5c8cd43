"""What the schemas of our own formats share: no field that is unknown, no value of another kind."""

from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    """A record of a file; raises pydantic's ``ValidationError`` for what does not fit."""

    model_config = ConfigDict(extra="forbid", strict=True)
