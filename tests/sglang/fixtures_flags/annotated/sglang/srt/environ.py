class EnvBool:
    def __init__(self, default):
        self.default = default


class Envs:
    SGLANG_TEST_ORACLE = EnvBool(False)
    SGLANG_TEST_EXTRA = EnvBool(True)


envs = Envs()
