"""Kernels and calls by their names in real traces."""

import pytest

from ppagent.profile.kernels import Kind, call_kind, kernel_kind


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", Kind.WAIT),
        ("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)", Kind.WAIT),
        ("ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)", Kind.WAIT),
        ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", Kind.COLLECTIVE),
        ("ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", Kind.COLLECTIVE),
        ("void sglang::cross_device_reduce_1stage<__nv_bfloat16, 8>(RankData*, RankSignals)", Kind.COLLECTIVE),
        ("flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<>", Kind.COLLECTIVE),
        ("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float> >", Kind.WORK),
        ("void at::native::vectorized_gather_kernel<16, long>", Kind.WORK),
        ("_fwd_grouped_kernel_stage1", Kind.WORK),
        ("fused_moe_kernel", Kind.WORK),
    ],
)
def test_a_kernel_computes_waits_or_takes_part_in_an_exchange(name: str, kind: Kind) -> None:
    assert kernel_kind(name) is kind


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("cudaLaunchKernel", Kind.LAUNCH),
        ("cudaLaunchKernelExC", Kind.LAUNCH),
        ("cudaLaunchCooperativeKernel", Kind.LAUNCH),
        ("cuLaunchKernel", Kind.LAUNCH),
        ("cuLaunchKernelEx", Kind.LAUNCH),
        ("hipLaunchKernel", Kind.LAUNCH),
        ("hipExtModuleLaunchKernel", Kind.LAUNCH),
        ("cudaLaunchHostFunc", Kind.OTHER),
        ("cudaMemcpyAsync", Kind.OTHER),
        ("cudaEventSynchronize", Kind.OTHER),
        ("cudaGraphLaunch", Kind.GRAPH),
        ("hipGraphLaunch", Kind.GRAPH),
        ("cudaGraphInstantiate", Kind.OTHER),
    ],
)
def test_a_call_launches_one_kernel_or_a_graph_of_them(name: str, kind: Kind) -> None:
    assert call_kind(name) is kind
