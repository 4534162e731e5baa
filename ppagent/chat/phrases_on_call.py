"""The words by which questions around a diagnosis are told apart: what ran, what comes next, what to watch."""

from ppagent.chat.phrases import any_of

RAN = any_of(
    r"\bwhat (?:all )?(?:did|have|do|are) you (?:just |actually |even |really )?"
    r"(?:run|ran|running|execut\w*|do|did|done)\b",
    r"\b(?:which|what) (?:\w+ )?(?:commands?|tools?|queries) (?:did|have|do) you\b",
    r"\b(?:list|show)(?: me)? (?:the |all |your |of )*(?:commands|tools)\b",
    r"\b(?:did|have) you (?:just )?(?:run|ran|execute|do|done)\b",
)
THEN = any_of(
    r"^(?:ok(?:ay)?,? |so |cool,? |right,? )*(?:and )?"
    r"(?:then(?: what)?|what then|after (?:that|this)(?: what)?|next)\W*$",
    r"^(?:ok(?:ay)?,? |so |and )*what (?:do i do |comes |happens |to do |should i do |about )?(?:next |then )?after "
    r"(?:that|this|it|P\d+)?\W*$",
)
WATCH = any_of(
    r"\b(?:which|what) (?:\w+ )?(?:metrics?|numbers?|gauges?|counters?|dashboards?|figures?|panels?) "
    r"(?:should|do|can|to|must)\b",
    r"\bwhat (?:should|do|can|to) (?:i |we )?(?:\w+ )?(?:watch|monitor|alert|keep an eye)",
    r"\bhow (?:do|can|will|would|should) (?:i|we) (?:know|see|tell|check|verify) "
    r"(?:if |that |whether )?(?:it|that|this|P\d)\b(?! is (?:PP|CG|KV|the |a ))",
)
NOTHING = any_of(
    r"\bdo(?:ing)? nothing\b",
    r"\b(?:leave|keep) (?:it|this|that|everything) (?:as|like|the way|alone)",
    r"\bignore (?:it|this|that)\b",
    r"\b(?:if|when) (?:i|we) (?:don'?t|do not) (?:do|change|touch|fix)",
    r"\b(?:can|could) (?:it|this|that) wait\b|\bhow urgent\b",
)
HOW_LONG = any_of(
    r"\bhow (?:long|much time) (?:would|will|does|do|is|should|might) "
    r"(?:it|that|this|all|the (?:fix|change)|P\d)\b"
)
RESTART_HELPS = any_of(
    r"\b(?:can|could|should|shall|may) (?:i|we) (?:just |simply |not )*(?:restart|reboot|relaunch|bounce)\b",
    r"\b(?:restart|reboot|relaunch|bounc)\w*\b.{0,25}\b(?:fix|help|cure|solve|mend|enough|do it)",
    r"\b(?:fix|help|cure|solve)\w*\b.{0,20}\b(?:restart|reboot|bounce)",
    r"\bturn(?:ing)? it off and on\b",
)
ELSE = any_of(
    r"(?:and |is |was )?(?:there )?(?:what|anything|something|nothing) else(?: is| was)?(?: wrong| odd| bad| off)?\W*"
)
BRIEF = any_of(
    r"\btell (?:my|the|our) (?:boss|manager|team|users?|customers?)\b",
    r"\btl;?dr\b",
    r"^(?:a |the |short |quick )*summar(?:y|ise|ize)\b",
    r"\bin (?:one|a) (?:line|sentence|word)\b|\bin short\b",
    r"\bsum (?:it|that|this) up\b|\b(?:for|to) (?:my|the) (?:boss|manager|ticket|channel|incident|slack)\b",
)
TROUBLE = any_of(
    r"\b(?:what|who|which \w+) (?:has |have )?(?:crashed|died|failed|errored)\b",
    r"\b(?:any|which|what|see|show|are there) (?:\w+ )?(?:errors?|warnings?|exceptions?|tracebacks?)\b",
    r"\b(?:errors?|warnings?|exceptions?) in (?:the |my |our )?logs?\b",
    r"\bdid (?:it|the server|sglang|a rank|something|anything) (?:crash|die|fail|oom|run out)",
    r"\b(?:what|anything) (?:is|odd|bad|wrong|suspicious)\b.{0,12}\bin the logs?\b|\bwhat does the log say\b",
)
CARDS = any_of(
    r"\b(?:which|what|any) (?:gpu|card)s?\b(?! (?:do|does|should|would|can|could|is best|to buy))",
    r"\b(?:slowest|hottest|weakest|odd|worst) (?:gpu|card)\b|\b(?:all|compare)(?: the| my| our)? (?:gpus|cards)\b",
    r"\b(?:gpus|cards) (?:\w+ )?(?:healthy|ok|okay|fine|equal|the same|alright|good|dead|alive)\b",
)
HAPPENED = any_of(r"\bwhat (?:the hell |just )?happened\b", r"\bwhat went wrong\b")
FORETOLD = any_of(r"\b(?:what|which|how) (?:was|were|is|are|did) (?:the |your |you )*(?:forecasts?|predict\w*)\b")
KEEP = any_of(
    r"\b(?:should|shall|can|could|do|must) (?:i|we) keep (?:it|that|this)\b(?! as)",
    r"\bkeep (?:it|that|this) (?:on|then|now|for good)\b|\bmake (?:it|that|this) (?:permanent|stick|last)\b",
)
BARE_SETTING = any_of(
    r"(?:and |ok |so |or )?(?:the |slot |async )*(?:limit|depth) ?(?:of|to|=|at)? ?\d+\b.{0,60}",
    r"(?:and |ok |so |or )?(?:cuda )?graphs? (?:on|off)\b.{0,60}",
)
HEARSAY = any_of(
    r"\b(?:says?|said|saying|thinks?|thought|claims?|reckons?|insists?|blames?|suspects?|swears?|heard|read|told me)\b"
)
