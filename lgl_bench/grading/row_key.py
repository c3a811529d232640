"""What identifies a row of the leaderboard: the key that its year rows carry too."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Name = Annotated[str, Field(min_length=1)]
Count = Annotated[int, Field(ge=0)]


class Key(BaseModel):
    """What identifies a row; no two rows of a table have the same key."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    suite: Name = Field(description="the suite it belongs to")
    suite_version: int = Field(ge=1, description="results of another version are not comparable")
    stream: Name = Field(description="the graph; a twin has its own name")
    stream_checksum: str = Field(description="sha256 of the stream; empty only in printed rows")
    protocol: Name = Field(
        description="how the stream was cut into tasks; `temporal(t0=2004)` at another t0 than its manifest's"
    )
    split: Name = Field(description="`temporal`, `60-20-20`, `planetoid`")
    strategy: str = Field(description="what was kept of the past; empty if tasks do not build on each other")
    history: str = Field(description="`all`, or the number of years that the strategy kept")
    restart: str = Field(description="`warm` or `cold`, as the strategy has it; empty if there is none")
    label_delay: Count = Field(description="years until a label arrived")
    track: Name = Field(description="`inductive`, `transductive`, or `upper bound` if a threshold saw the truth")
    backbone: Name = Field(description="the graph neural network, with the parameters that were given or swept")
    head: str = Field(description="what was made of its output")
    detector: Name = Field(description="canonical expression of the novelty score")
    threshold: str = Field(description="canonical expression of the decision; empty in rows without one")
    preset: str = Field(description="where hyperparameters came from")
    budget: Name = Field(description="how much a fit could spend")
    budget_version: Count = Field(description="of that budget; results of another are not comparable; 0 if printed")
    select: str = Field(description="how parameters were chosen")


KEY = tuple(Key.model_fields)
"""The columns of a key, in their order."""
