// SPDX-License-Identifier: MIT
import TargetKit

let order = NewOrder(product: "7")
let ids = ["A1", "A2"]

func show(_ response: Response) {}
func showFraction(_ fraction: Double?) {}
