"""The words by which kinds of question are told apart."""

import re


def any_of(*patterns: str) -> re.Pattern[str]:
    """Matches any of these, in any case."""
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.I)


YES = any_of(r"(?:y|yes|yep|yeah|sure|ok(?:ay)?|please do|do it|go ahead|go for it)[.! ]*")
NO = any_of(r"(?:n|no|nope|not now|don'?t|never ?mind|cancel|stop)[.! ]*")
THANKS = any_of(r"\b(?:thanks?|thank you|thx|cheers|great|nice|cool)\b")
GREETING = any_of(r"(?:ok(?:ay)?,? )?(?:hi|hello|hey|thanks?|thank you|thx|cheers|great|nice|cool)\b.{0,20}")
GO_ON = any_of(r"(?:go on|continue|carry on|keep (?:going|looking)|look further)\b.{0,20}")
AGAIN = any_of(
    r"(?:please )?(?:look|check|read)(?: at (?:it|the server|them))? (?:again|afresh|anew|once more)\b.{0,20}",
    r"refresh\b.{0,20}",
    r"(?:so |and )?is (?:it|that|this) (?:fixed|gone|solved|resolved|better)(?: now| yet| by now)?\W*",
    r"(?:i|we) (?:have )?(?:just )?(?:restarted|relaunched|rebooted)(?: (?:it|the server))?\b.{0,40}",
)
LOG_LINE = re.compile(
    r"^(?:\s*\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d|.*(?:Decode|Prefill) batch|Traceback |\s+File \")", re.M
)

DONE = any_of(
    r"\b(?:what|did|have) (?:have |did )?you (?:just )?(?:chang|touch|restart|modif|br[eo]ak)",
    r"\broll(?:ing)? ?(?:(?:it|that|this|everything|the change) )?-?back",
    r"\b(?:undo|revert)",
    r"\bput (?:it |that |everything )?back",
    r"\brestore (?:it|that|the old)",
    r"\b(?:get|go|going|getting|switch|come) back\b",
    r"\b(?:is|are|was|were) (?:it|that|this|they|all|everything|(?:the|my|our) (?:\w+ )?"
    r"(?:settings?|limit|value|launch|server|config\w*)) (?:all |really |now )*(?:back|restored|as it was|put)\b",
    r"\bhow (?:did|have) you (?:leave|left)\b|\bleft (?:behind|over)\b|\bwhat (?:is|was) left\b",
)
SAFE = any_of(
    r"\b(?:is|are|would|will) (?:it|that|this|they) (?:be )?(?:safe|dangerous|risky|harmless)",
    r"\bsafe(?:ly)? to\b",
    r"\bbreak (?:any|some|it|prod)",
    r"\bwhat (?:is|are) the risks?\b",
    r"\brisky?\b",
    r"\blose (?:any )?(?:requests|users|traffic)",
    r"\b(?:drop|kill|interrupt|affect|disturb|hurt) (?:any |the |my |our |running )*(?:requests|users|traffic|prod\w*)",
    r"\bdowntime\b",
    r"\bhow long (?:does|will|would|is|do)\b.*\b(?:restart|relaunch|start|take|down|try|trial|bench)",
    r"\bdo (?:i|we) (?:need|have) to restart|\bneeds? (?:a |to )?(?:restart|reboot|downtime)",
    r"\bwithout (?:a )?restart",
)
SURE = any_of(
    r"\bhow (?:sure|certain|confident)",
    r"\bare you (?:sure|certain|confident|kidding|serious)",
    r"\bhow do you know",
    r"\b(?:can|should|could) (?:i|we) (?:trust|believe|rely)",
    r"\bprove (?:it|that)\b|\bproof\b",
    r"\bwhat makes you (?:think|so sure)",
    r"\bi (?:do not|don'?t|can'?t) (?:believe|trust|buy)",
    r"\bbased on what|\bsays who|^(?:oh )?really\b",
    r"\byou(?:'re| are) (?:wrong|mistaken|guessing)|\bwhat if you(?:'re| are) wrong",
    r"\bthat(?:'s| is) (?:wrong|not (?:right|true))|\bnonsense\b|\bbullshit\b|\bi disagree",
)
NEEDS = any_of(
    r"\bwhat (?:else |more )?(?:do|would|should) (?:you|i|we) (?:need|give|show|send|provide|record|collect)",
    r"\bwhat (?:did|have|could|can) you not (?:check|see|read|look|find|get)",
    r"\bwhat(?:'s| is| else is)? missing\b|\bwhat (?:can|could) i (?:give|tell|show|send) you",
    r"\bwhat (?:would|do) you need\b",
    r"\bwhat (?:do you not|don'?t you|do you still not|did you not) (?:know|see)\b",
    r"\bwhat(?:'s| is| are)? (?:still |yet )?(?:not known|unknown|unclear|undecided|your blind spots?)\b",
)
NOW = any_of(
    r"\bhow many (?:tokens|tok\b|gpus|cards|stages|layers)",
    r"\b(?:current|present) (?:speed|load|throughput|state|status)",
    r"\bwhat(?:'s| is) the (?:load|speed|status|throughput|queue|version|model|setup|config\w*)\b",
    r"\b(?:what|which) (?:sglang )?version\b|^(?:sglang )?version\W*$|\b(?:what|which) model\b",
    r"^(?:status|overview)\b|\bhow fast is it\b|\bhow busy\b",
)
MEANS = any_of(
    r"\bwhat (?:does|do) (?:it|that|this|all that|they) (?:even )?mean",
    r"\bexplain\b|\bELI5\b",
    r"\bi (?:do not|don'?t) (?:get|understand)",
    r"\bin (?:plain|simple) (?:words|english|terms)",
    r"\bwhat (?:is|are|does) (?:a |an |the )?(?!.*--)[\w -]{3,40} mean",
)
GAIN = any_of(
    r"\bhow much (?:faster|better|more|gain|would (?:i|we|it|that)|will (?:i|we|it|that)|can (?:i|we))",
    r"\bwhat (?:is|'s|are|would be) the (?:most|best|ceiling|upper bound|potential|gain)",
    r"\bwhat(?: is|'s|  are| would be) the max(?:imum)?(?! (?:batch|running|micro|slot|request|concurren|context|num))",
    r"\b(?:maximum|peak|best possible|theoretical) (?:throughput|speed|performance|tok)",
    r"\bhow fast (?:can|could|should|will)",
    r"\bwhat (?:speedup|gain|improvement)",
    r"\bworth (?:it|the)",
)
CROWD = any_of(
    r"\bmore (?:users|requests|load|traffic|clients|concurrency)",
    r"\bhow many (?:users|requests|clients|concurrent)",
    r"\b(?:raise|increase|higher|lower|reduce) (?:the )?(?:concurrency|load)",
    r"\bwhat concurrency\b|\benough (?:load|requests|users|traffic)",
    r"\btoo (?:few|many) (?:requests|users|clients)|\b(?:requests|users|clients) (?:too few|too many|enough)",
)
RESTART = any_of(
    r"^(?:please |just |(?:can|could|will|would) you (?:please |just )*)*"
    r"(?:restart|relaunch|reboot|redeploy|kill|stop|shut ?down) (?:it|this|that|the server|sglang|everything)\b.{0,20}$"
)
SELF = any_of(r"\b(?:who|what) are you\b", r"\bwhat can (?:you|i) (?:do|ask|answer|tell|say)\b", r"^help\W*$")
BUSY = any_of(
    r"\bnvidia-?smi\b",
    r"\b(?:why|what|how).{0,40}\b(?:gpus?|cards?|util\w*)\b.{0,40}\b(?:9\d|100) ?%",
    r"\b(?:why|what|how).{0,40}\b(?:9\d|100) ?% (?:gpu |util|busy)",
)
BEYOND = any_of(
    r"\b(?:more|other|bigger|faster|newer|better|buy) (?:\w+ )?(?:gpus?|cards?|hardware|machines?|nodes?)\b",
    r"\b(?:vllm|trt-?llm|tensorrt|lmdeploy|llama\.?cpp|ollama|tgi|dynamo)\b",
    r"\bbug\b",
    r"\bsglang(?:'s)? (?:fault|issue|broken)",
    r"\b(?:upgrade|newer version|downgrade|update sglang)",
    r"(?<![\d.])v?0\.[3-9]\.\d{1,2}(?![\d.])",
)

WHAT_IF = any_of(
    r"\bwhat (?:if|would|happens|about)",
    r"\bpredict|\bforecast",
    r"\bwould (?:it|that|this|setting|--)",
    r"\b(?:if|when) (?:i|we|you) (?:set|use|raise|lower|turn|switch|drop|remove|add|had|have)",
    r"\bhow (?:much|fast)\b.*\b(?:with|if|at)\b",
    r"\b(?:does|would|will)\b.*\b(?:help|gain|be faster)\b",
)
EXPLAINS = any_of(
    r"\bwhat(?:'?s| is| does| do| are)\b", r"\bexplain|\bmean|\bdescribe", r"^--[\w-]+\s*\??$", r"^help\b"
)
WHAT_IS_A = any_of(r"what(?:'?s| is| are) (?:a |an |the )?[\w -]{2,25}\??")
WHAT_IS = any_of(r"what(?:'s| is| does| do)? .{2,40}")
ADVICE = any_of(
    r"\b(?:should|shall|must|could|may|can) (?:i|we)\b",
    r"\bdo (?:i|we) (?:need|want|have)\b",
    r"\bworth\b|\bneeded\b",
    r"\bwould (?:it|that|\w+) help",
    r"\b(?:does|do|will|would|could|might) .{0,60}\b(?:help|matter|hurt|be (?:better|faster)|make an?y? ?difference)",
    r"\bwhat about\b|\bhow about\b|\bwhy not\b",
    r"^(?:try|use|enable|disable|turn|switch)\b",
    r"\bbetter (?:to|with|off)\b",
    r"\bhow (?:do|can|would) (?:i|we) (?:enable|disable|set|turn|use|switch|raise|lower)",
)
HEALTH = any_of(
    r"\b(?:un)?healthy\b|\banything wrong\b",
    r"\b(?:is|looks?|are) "
    r"(?:it|this|that|everything|things|they|(?:my|our|the) (?:config\w*|setup|settings?|server|launch)) (?:all )?"
    r"(?:good|ok|okay|fine|normal|bad|right)\b",
)
COMMAND = any_of(
    r"\b(?:the|a|new|launch|full|whole|exact|restart|relaunch|start) command(?: ?line)?\b",
    r"\bwhat (?:do|should) i (?:paste|type)\b",
)
COMPARE = any_of(
    r"\bcompare",
    r"\b(?:than|with|since|to) (?:before|last|then|yesterday|earlier|previous)",
    r"\bwhat (?:has |is )?(?:changed|different)\b",
    r"\blast (?:time|session)|\bprevious session|\bany better\b",
    r"\bdid (?:it|that|the trial) (?:help|work)",
    r"\b(?:result|outcome) of (?:the|that|your) (?:trial|try|test)",
)
HELPED = any_of(
    r"\bdid (?:it|that|the trial) (?:help|work)",
    r"\bany better\b",
    r"\b(?:result|outcome) of (?:the|that|your) (?:trial|try|test)",
)
CHANGE = any_of(
    r"\bwhat (?:should|can|could|shall|do|must|to|would) (?:i |we |you )?"
    r"(?:change|do|set|try|run|relaunch|recommend|start)",
    r"\bhow (?:do|can|to|should) (?:i|we|you)?\s?(?:fix|speed|make|get|solve|improve|change|cure|tune)",
    r"\bfix\b|\brecommend|\bsuggest|\bpropos|\brelaunch|\bremed|\bcures?\b|\btune\b",
    r"\bwhat now\b|\bnext step|\bwhat'?s next\b|\bso what\b|\bwhat first\b",
    r"\bwhere (?:do|should) i start",
    r"\bwhich (?:one|flag|setting)s? (?:should|do|first)",
)
TRY = any_of(
    r"^(?:please |just |ok(?:ay)?,? |(?:can|could|will) you )*"
    r"(?:try|apply|test|run) (?:it|that|this|P\d+|(?:the )?limit \d+)\b.{0,30}$"
)
ASKS_CAUSE = any_of(
    r"^(?:so |and |but |or )?(?:is|are|was|were|could|can|might|may|do|does|isn'?t|aren'?t)\b",
    r"\bcauses?d?\b|\bbecause of\b|\bblame|\bfault\b|\bto do with\b|\bculprit\b",
    r"\bis it\b|\bwhy not\b|\bwhat about\b",
    r"^why (?:is|are|do|does)\b",
)
ASKS_WHY = any_of(r"^(?:so |and |but )?why\b(?! not\b)")
WHY = any_of(
    r"\bwhy\b|\bslow|\bfaster\b|\bthroughput|\blatency|\btok/?s",
    r"\butil|\bidle\b|\bbottleneck|\blimit(?:s|ed|ing)\b",
    r"\bwhat(?:'?s| is)? ?(?:wrong|going on|happening|up)\b",
    r"\bdiagnos|\binvestigat|\blook (?:into|at)\b",
    r"\bno sense\b|\bnot properly\b|\bexpect|\bwrong\b|\bproblem",
    r"\bstuck\b|\bhang|\bcrash",
    r"\buseless\b|\bterrible\b|\bawful\b|\bsuck",
    r"\b(?:un)?healthy\b",
    r"\b(?:is|looks?|are) "
    r"(?:it|this|that|everything|things|they|(?:my|our|the) (?:config\w*|setup|settings?|server|launch)) (?:all )?"
    r"(?:good|ok|okay|fine|normal|bad|right)\b",
)
ASKING = any_of(
    r"\?",
    r"^(?:so |and |but )?(?:is|are|was|were|can|could|do|does|did|should|shall|would|will|may|might|am|has)\b",
    r"^(?:so |and |but )?(?:what|why|how|which|where|when|who)\b",
)

CAUSE_ID = re.compile(r"\b(?:[A-Za-z]{2}\d{3}|H\d{1,3})\b")
LOOKED_AT = any_of(
    r"\bwhat (?:did|have|do) you (?:look|see|seen|check|read|find|found|know)",
    r"\b(?:did|have) you (?:even )?(?:look|see|seen|check|read)",
    r"\b(?:show|list)(?: me)? (?:the |your |all )*evidence",
)
EVIDENCE_ID = re.compile(r"\bE\d{1,3}\b")
PROPOSAL_ID = re.compile(r"\b[Pp](?!50\b|9\d\b)\d{1,2}\b")
"""P50, p95 and p99 are percentiles."""
