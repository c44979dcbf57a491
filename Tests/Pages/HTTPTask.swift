// SPDX-License-Identifier: MIT
import TargetKit

let picture = URL(filePath: "/photo.jpg")
let folder = URL(filePath: "/films")
