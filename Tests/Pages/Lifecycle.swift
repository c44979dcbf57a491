// SPDX-License-Identifier: MIT
import TargetKit

nonisolated let order = NewOrder(product: "7")
nonisolated let ids = ["A1", "A2"]

nonisolated func show(_ response: Response) {}
nonisolated func showFraction(_ fraction: Double?) {}
