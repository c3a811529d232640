"""Whether the rows and fits of plan.json are those its suite and budget ask for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

from lgl_bench.core.errors import UnknownNameError, UsageError
from lgl_bench.core.expressions import Expression, fills, parse
from lgl_bench.core.grammar import plugin_name
from lgl_bench.kernels.choice import kernel_packages
from lgl_bench.plans.backbone_settings import backbone_settings
from lgl_bench.plans.fits import ChainSpec, backbone_text, keys_today
from lgl_bench.plans.methods import AUTO, MethodRow, Methods, row_texts, trained_heads
from lgl_bench.plans.paper_presets import Preset, preset
from lgl_bench.plans.plan import Plan, threshold_texts
from lgl_bench.plans.plan_file import Description
from lgl_bench.plans.plugin_facts import protocol_facts
from lgl_bench.plans.settings import ChainRequest, ChainSetting, chain_requests
from lgl_bench.plans.suite import comes_from_shipped, suites
from lgl_bench.protocols import protocols
from lgl_bench.runs.provenance import provenance
from lgl_bench.strategies import strategies
from lgl_bench.streams.catalogue import TWIN, is_twin
from lgl_bench.streams.checksum import prefix_checksums
from lgl_bench.streams.stream import Stream
from lgl_bench.submissions.bundle.layout import BundleError
from lgl_bench.submissions.verify.claims import check_claims


def check_plan(plan: Plan, description: Description) -> list[str]:
    """Raises if rows, thresholds or parameters are not the suite's; returns what could not be checked."""
    _check_suite(plan)
    notes = check_claims(plan) + _check_thresholds(plan)
    _check_streams(plan, description)
    wanted = _wanted_rows(plan)
    if len(wanted) != len(plan.rows):
        raise BundleError(f"plan.json: its suite asks for {len(wanted)} rows; it has {len(plan.rows)}")
    unknown: set[str] = set()
    for one, row in zip(wanted, plan.rows, strict=True):
        text, methods = one.text, one.methods_of(row)
        place = f"plan.json: the row {row.detector} on {row.stream}, {row.shown_backbone}"
        if methods is None:
            raise BundleError(f"{place}{row.strategy.name and ', '}{row.strategy.name}: the suite has {one} here")
        try:
            beside = (other for other in plan.rows if _shares_fits(other, row))
            right = methods.row(text, trained_heads(beside)) if not row.tuned else None
        except UnknownNameError:
            right = None
            unknown.add(text)
        except UsageError as error:
            raise BundleError(f"plan.json: {error}") from error
        if right is not None and row != right:
            raise BundleError(f"{place}: it is not what the suite's '{text}' stands for, {right.detector}")
        if right is None:
            _check_by_name(row, text, place)
    notes += [f"{text}: not available here, so its row is known by name and answers only" for text in sorted(unknown)]
    _check_parameters(plan)
    tuned = sorted({row.preset for row in plan.rows if row.tuned})
    return notes + [f"parameters of the preset '{name}' are taken as they were sent" for name in tuned]


def check_keys(plan: Plan, streams: dict[str, Stream], made: dict[str, str]) -> list[str]:
    """Raises if keys of fits are not those of the parameters; returns a note if other code made them.

    A key depends on the sources of backbone and head and on versions: it can be checked only if these are the same.
    """
    ours = provenance()
    names = {"lgl_bench", "torch", "git_commit"}
    names |= {name for chain in plan.units for name in kernel_packages(chain.kernels or None)}
    same = all(made.get(name) == ours[name] for name in names) and not ours["git_commit"].endswith("-dirty")
    same &= all(chain.kernels for chain in plan.units)
    unknown: set[str] = set()
    agree: dict[str, list[bool]] = {}
    prefixes = {name: prefix_checksums(stream) for name, stream in streams.items()}
    for chain, units in plan.units.items():
        what = f"{chain.backbone} with {chain.head}, {chain.protocol.name}"
        try:
            today = keys_today(units, prefixes[chain.stream])
        except UnknownNameError:
            unknown.add(what)
            continue
        for key, right in today.items():
            if right != key and same:
                raise BundleError(f"plan.json: the fit {key} has another key than its parameters give, {right}")
            agree.setdefault(what, []).append(right == key)
    for what, found in agree.items():
        if len(set(found)) > 1:
            raise BundleError(f"plan.json: fits of {what} were made by different code or versions; a run has one")
    other = sum(found.count(False) for found in agree.values())
    notes = [f"{name}: not available here, so keys of its fits are taken as names" for name in sorted(unknown)]
    return notes + ([f"{other} keys of fits were made by other code or versions and are taken as names"] * bool(other))


def _shares_fits(other: MethodRow, row: MethodRow) -> bool:
    """Whether another row trains on the same stream and backbone, so that a detector of any head can use its fits."""
    one, two = ((each.stream, each.protocol, each.strategy, each.backbone, each.parameters) for each in (other, row))
    return one == two


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A row that the suite asks for."""

    methods: Methods
    text: str
    request: ChainRequest

    def __str__(self) -> str:
        backbone = backbone_text(self.methods.backbone, self.methods.parameters)
        where = (self.methods.stream, backbone, self.methods.strategy.name)
        return f"{self.text} on {', '.join(filter(None, where))}"

    def methods_of(self, row: MethodRow) -> Methods | None:
        """The methods with the strategy of a row; None if it is not the row that is asked for.

        Values that the suite does not give may come from somebody's own preset. Of a strategy that is not available
        nobody knows its defaults.
        """
        mine, setting = self.methods, ChainSetting(row.protocol, row.strategy)
        if (row.stream, row.backbone, row.parameters) != (mine.stream, mine.backbone, mine.parameters):
            return None
        free = row.tuned or plugin_name(self.request.asked) not in strategies
        if setting != self.request.setting and not (free and self.request.allows(setting)):
            return None
        return replace(mine, protocol=row.protocol, strategy=row.strategy)


def _wanted_rows(plan: Plan) -> list[_Wanted]:
    suite = plan.suite
    try:
        networks = backbone_settings(suite, plan.plugins)
    except UsageError as error:
        raise BundleError(f"plan.json: {error}") from error
    found = []
    splits = max(1, len(suite.split))
    for stream in plan.checksums:
        requests = {one.name: _requests(plan, stream, one.name) for one in networks}
        for i, network in product(range(splits * len(suite.strategies)), networks):
            request = requests[network.name][i]
            protocol, strategy = request.setting
            split = protocol_facts(protocol, plan.plugins).split
            methods = Methods(suite, stream, protocol, strategy, split, network.name, network.parameters, None)
            floor = i < splits and network == networks[0]
            texts = row_texts(suite, network.name, floor=floor, facts=plan.plugins)
            found += [_Wanted(methods, text, request) for text in texts]
    return found


def _requests(plan: Plan, stream: str, backbone: str) -> list[ChainRequest]:
    """The protocol of the suite with its strategies; as the bundle has them, once for each split, if it is a plugin."""
    suite = plan.suite
    if suite.protocol in protocols:
        return chain_requests(suite.on(stream), plan.plugins)
    chains = (chain for chain in plan.units if (chain.stream, chain.backbone) == (stream, backbone))
    found = list(dict.fromkeys(ChainSetting(chain.protocol, chain.strategy) for chain in chains))
    splits = suite.split or (None,)
    if [setting.protocol.split for setting in found] != list(splits) * len(suite.strategies):
        raise BundleError(f"plan.json: its splits are not those of the suite with the protocol {suite.protocol}")
    texts = [text for text in suite.strategies for _ in splits]
    return [ChainRequest(text, setting) for text, setting in zip(texts, found, strict=True)]


def _check_thresholds(plan: Plan) -> list[str]:
    notes = []
    wanted = threshold_texts(plan.suite)
    if len(plan.thresholds) != len(wanted):
        raise BundleError("plan.json: its thresholds are not the suite's")
    for text, given in zip(wanted, plan.thresholds, strict=True):
        try:
            right = str(plan.budget.cap_threshold(parse(text)))
        except UnknownNameError:
            if not fills(parse(given), parse(text)):
                raise BundleError(f"plan.json: the threshold '{text}' of the suite cannot be {given}") from None
            notes.append(f"{text}: not available here, so it is known by its decisions only")
            continue
        except UsageError as error:
            raise BundleError(f"plan.json: {error}") from error
        if given != right:
            raise BundleError(f"plan.json: the threshold '{text}' of the suite is {right}, not {given}")
    return notes


def _check_suite(plan: Plan) -> None:
    """A suite of one's own has a name of its own; what a run may replace of a shipped one stands in its rows."""
    name = plan.suite.name
    if name in suites() and not comes_from_shipped(plan.suite):
        raise BundleError(
            f"plan.json: the suite calls itself {name}, but its version, protocol, swept values or detectors of single "
            "backbones are not those of the shipped suite of that name, and rows of the two are not comparable"
        )


def _check_streams(plan: Plan, description: Description) -> None:
    for name in plan.checksums:
        real = name.removesuffix(TWIN)
        asked = {str(parse(text)) if is_twin(text) else text for text in plan.suite.streams}
        if name not in asked and not (real in asked and real in description.stand_ins):
            raise BundleError(f"plan.json: the stream {name} is none of its suite's")


def _check_by_name(row: MethodRow, text: str, place: str) -> None:
    """What can be checked of a row whose detector is not available: that its name says what its answers are."""
    shown, asked = parse(row.detector), parse(text)
    if not fills(shown, asked):
        raise BundleError(f"{place}: it is not what the suite's '{text}' stands for")
    inner = shown.arguments[0] if shown.name == "good" and shown.arguments else shown
    names = {plugin_name(candidate.base) for candidate in row.candidates}
    hidden = inner == Expression(AUTO)
    if (not row.chosen and not hidden and row.concrete != row.detector) or (not hidden and names != {inner.name}):
        raise BundleError(f"{place}: it shows another detector than its answers, {row.candidates[0].base}")


def _check_parameters(plan: Plan) -> None:
    """Parameters of the paper's presets within the budget; those of somebody's own preset within the budget too."""
    tuned = {
        (row.stream, row.backbone, candidate.head) for row in plan.rows if row.tuned for candidate in row.candidates
    }
    needed = {chain for row in plan.rows for candidate in row.candidates for chain in plan.chains_of(row, candidate)}
    for chain in plan.units:
        where = f"plan.json: the chain of {chain.shown_backbone} with {chain.head} on {chain.stream}, seed {chain.seed}"
        if chain not in needed:
            raise BundleError(f"{where}: no row needs it")
        claimed = Preset("", chain.parameters, chain.training)
        own = (chain.stream, chain.backbone, chain.head) in tuned
        try:
            right = replace(_allowed(plan, chain, claimed if own else None), name="")
        except UsageError as error:
            raise BundleError(f"{where}: {error}") from error
        except TypeError as error:  # a width in words, a list of heads
            raise BundleError(f"{where}: its parameters {claimed.backbone} are no numbers to be capped") from error
        if claimed != right:
            raise BundleError(
                f"{where}: its parameters {claimed.backbone}, {claimed.training} are not those of the budget "
                f"{plan.budget.name}: {right.backbone}, {right.training}"
            )


def _allowed(plan: Plan, chain: ChainSpec, own: Preset | None) -> Preset:
    """What the budget makes of somebody's own preset, or of the paper's with what is given and swept in place."""
    swept = {name: chain.parameters.get(name, float("nan")) for name in plan.suite.sweep}
    given = {**swept, **dict(chain.given)}
    if own is not None:
        return plan.budget.cap(replace(own, backbone={**own.backbone, **given}), given)
    split = protocol_facts(chain.protocol, plan.plugins).split
    return plan.budget.cap_given(preset(chain.stream, split, chain.backbone, chain.head), given)
