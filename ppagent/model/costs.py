"""Small times of SGLang's pipeline loop that no benchmark shows apart, with where each figure comes from.

They were set from a loop model calibrated on one deployment at one request; treat each as good to a factor of two.
"""

# Scheduling a slot and handling its result on the CPU of one stage, in each pass.
BOOKKEEPING_MS = 0.7
# Message between two stages over CPU sockets (0.08) and the transfer of hidden states (0.03).
HOP_MS = 0.11
# Replaying a decode graph: about 1 us a node (sgl-project/sglang#29960), 300-500 nodes a stage.
GRAPH_LAUNCH_MS = 0.4
