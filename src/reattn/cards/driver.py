"""The cards that NVIDIA's driver lists."""

from collections.abc import Iterator
from typing import Any

from reattn.cards.card import Card


def driver_cards() -> list[Card]:
    """Every card of the machine, by PCI address; none without a driver.

    A card in MIG mode is replaced by its instances, which are what programs use.
    """
    import pynvml

    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return []
    try:
        return [card for handle in _handles(pynvml) for card in _cards(pynvml, handle)]
    finally:
        pynvml.nvmlShutdown()


def _handles(nvml: Any) -> list[Any]:
    """Handles by PCI address: the order of CUDA_DEVICE_ORDER=PCI_BUS_ID."""
    handles = _found(nvml, nvml.nvmlDeviceGetHandleByIndex, nvml.nvmlDeviceGetCount())
    return sorted(handles, key=lambda handle: nvml.nvmlDeviceGetPciInfo(handle).busId)


def _cards(nvml: Any, handle: Any) -> list[Card]:
    if not _is_split(nvml, handle):
        return [_card(nvml, handle)]
    count = nvml.nvmlDeviceGetMaxMigDeviceCount(handle)
    instances = _found(
        nvml,
        lambda index: nvml.nvmlDeviceGetMigDeviceHandleByIndex(handle, index),
        count,
    )
    return [_card(nvml, instance) for instance in instances]


def _found(nvml: Any, get: Any, count: int) -> Iterator[Any]:
    """What is there and may be used, of `count` places."""
    for index in range(count):
        try:
            yield get(index)
        except nvml.NVMLError:
            continue


def _is_split(nvml: Any, handle: Any) -> bool:
    try:
        return nvml.nvmlDeviceGetMigMode(handle)[0] == nvml.NVML_DEVICE_MIG_ENABLE
    except nvml.NVMLError:  # older cards do not know the question
        return False


def _card(nvml: Any, handle: Any) -> Card:
    try:
        memory = nvml.nvmlDeviceGetMemoryInfo(handle).total
    except nvml.NVMLError:  # cards that share the machine's memory
        memory = None
    return Card(nvml.nvmlDeviceGetUUID(handle), nvml.nvmlDeviceGetName(handle), memory)
