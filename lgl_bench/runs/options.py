"""How a run is carried out, apart from what it runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

Checkpoints: TypeAlias = Literal["all", "last", "none"]
IN_PROCESS = "in-process"
"""The engine that does everything in the process of the run."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How a run is carried out, apart from what it runs.

    Attributes:
        out: Run folder.
        data_dir: Folder of the streams; None for the default.
        engine: By name: "local" processes, a "ray" cluster, "in-process" for this process alone, one unit after the
            other and without a limit of time or memory, or a plugin's.
        address: Of the Ray cluster; None starts one here.
        jobs: Local processes; None for one per core.
        threads: Of every fit. Sums change with it, so it is part of what determines a result.
        device: "auto", "cpu" or "cuda".
        checkpoints: Which weights are kept.
        real_only: Whether an absent stream is an error.
        offline: Whether nothing is downloaded.
        force: Whether everything is done again.
        fresh: Whether the run begins anew in a folder beside `out`, if something is there already.
        retry_failed: Whether what failed is taken up again.
        time_limit: Seconds a unit may take.
        memory_limit: MiB a worker may hold.
        plugins: Files with plugins.
        preset: File with tuned parameters.
        matrix: Whether every model answers for every year too; its weights must be kept.
    """

    out: Path
    data_dir: Path | None = None
    engine: str = "local"
    address: str | None = None
    jobs: int | None = None
    threads: int = 1
    device: str = "auto"
    checkpoints: Checkpoints = "all"
    real_only: bool = False
    offline: bool = False
    force: bool = False
    fresh: bool = False
    retry_failed: bool = False
    time_limit: float | None = None
    memory_limit: float | None = None
    plugins: tuple[str, ...] = ()
    preset: Path | None = None
    matrix: bool = False

    @property
    def in_process(self) -> bool:
        """Whether everything is done in the process of the run."""
        return self.engine == IN_PROCESS
