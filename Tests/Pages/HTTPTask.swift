// SPDX-License-Identifier: MIT
import TargetKit

nonisolated let picture = URL(filePath: "/photo.jpg")
nonisolated let folder = URL(filePath: "/films")
