"""Kinds of refusal at launch: flags argparse rejects, combinations and models pipeline parallelism rejects."""

from ppagent.sglang.logs.trouble import TroubleKind

FLAG_KINDS: tuple[TroubleKind, ...] = (
    TroubleKind(
        id="pp_model_unsupported",
        severity="fatal",
        marks=(b"Pipeline Parallel is not compatible with this model", b"does not support pipeline parallel"),
        pattern=r"Pipeline Parallel is not compatible|does not support pipeline parallel",
        note="The model's code takes no pipeline stages in this version (0.5.6+ says so; after loading).",
    ),
    TroubleKind(
        id="pp_flag_conflict",
        severity="fatal",
        marks=(b"Pipeline parallelism is not compatible with", b"Pipeline parallelism currently only supports"),
        pattern=r"Pipeline parallelism (?:is not compatible with|currently only supports) (?P<features>.*)",
        note="A flag cannot be combined with pipeline parallelism in this version.",
    ),
    TroubleKind(
        id="layer_partition_error",
        severity="fatal",
        marks=(b"(partitions)=", b"Invalid partition string"),
        pattern=r"(?:len|sum)\(partitions\)=(?P<got>\d+) does not match (?P<of>\w+)=(?P<wanted>\d+)"
        r"|Invalid partition string: (?P<text>.*)",
        note="SGLANG_PP_LAYER_PARTITION must have one number per stage that add up to the layers.",
    ),
    TroubleKind(
        id="flag_unrecognized",
        severity="fatal",
        marks=(b"unrecognized arguments: ",),
        pattern=r"unrecognized arguments: (?P<arguments>.*)",
        note="The installed version has no such flag.",
    ),
    TroubleKind(
        id="flag_ambiguous",
        severity="fatal",
        marks=(b"ambiguous option: ",),
        pattern=r"ambiguous option: (?P<option>\S+) could match (?P<candidates>.*)",
        note="An abbreviation fits several flags of the installed version.",
    ),
    TroubleKind(
        id="flag_invalid_choice",
        severity="fatal",
        marks=(b"invalid choice: ",),
        pattern=r"argument (?P<argument>\S+): invalid choice: (?P<value>.+?) \(choose from (?P<choices>[^)]*)",
        note="The installed version does not know this value.",
    ),
    TroubleKind(
        id="flag_expected_argument",
        severity="fatal",
        marks=(b": expected ",),
        pattern=r"argument (?P<argument>\S+): expected (?P<expected>\w+(?: \w+)*) arguments?",
        note="A flag stands without its value.",
    ),
    TroubleKind(
        id="flag_invalid_value",
        severity="fatal",
        marks=(b"error: argument ",),
        pattern=r"error: argument (?P<argument>\S+): (?P<reason>.*)",
        note="A flag's value cannot be read.",
    ),
    TroubleKind(
        id="flag_required",
        severity="fatal",
        marks=(b"the following arguments are required",),
        pattern=r"the following arguments are required: (?P<arguments>.*)",
        note="A flag that must be given is missing.",
    ),
    TroubleKind(
        id="flag_deprecated",
        severity="info",
        marks=(b"deprecated",),
        pattern=r"(?P<flag>--[a-z][\w-]+).{0,80}\bdeprecated",
        note="The flag still works; the next versions may drop it.",
        harmless=True,
    ),
    TroubleKind(
        id="port_in_use",
        severity="fatal",
        marks=(b"ddress already in use",),
        pattern=r"[Aa]ddress already in use",
        note="Another server holds the port.",
    ),
)
