// SPDX-License-Identifier: MIT
import Foundation
import Measuring

/// Curves with logarithmic axes, as an SVG image without scripts.
struct LinePlot {
    private static let (width, height) = (560.0, 300.0)
    private static let (left, right, top, bottom) = (64.0, 150.0, 16.0, 34.0)

    let curves: [(name: String, points: [FigureRecord.Point])]
    private let sizes: ClosedRange<Double>
    private let costs: ClosedRange<Double>

    /// - Parameter points: The points of one plot; sizes and costs above zero.
    init?(_ points: [FigureRecord.Point]) {
        let points = points.filter { $0.size > 0 && $0.cost > 0 && $0.cost.isFinite }
        guard let minSize = points.map(\.size).min(), let maxSize = points.map(\.size).max(),
            let minCost = points.map(\.cost).min(), let maxCost = points.map(\.cost).max(), minSize < maxSize
        else { return nil }
        sizes = log10(minSize)...log10(maxSize)
        costs = floor(log10(minCost))...max(floor(log10(minCost)) + 1, ceil(log10(maxCost)))
        var names: [String] = []
        for point in points where !names.contains(point.curve) { names.append(point.curve) }
        curves = names.map { name in
            (name, points.filter { $0.curve == name }.sorted { $0.size < $1.size })
        }
    }

    var svg: String {
        """
        <svg viewBox="0 0 \(Int(Self.width)) \(Int(Self.height))" role="img">
        \(grid)
        \(curves.enumerated().map { curve($1, number: $0) }.joined(separator: "\n"))
        </svg>
        """
    }

    private var grid: String {
        var lines: [String] = []
        for power in Int(costs.lowerBound)...Int(costs.upperBound) {
            let y = y(pow(10, Double(power)))
            let end = Self.width - Self.right
            lines.append("<line class=\"grid\" x1=\"\(Self.left)\" x2=\"\(end)\" y1=\"\(y)\" y2=\"\(y)\"/>")
            lines.append("<text x=\"\(Self.left - 6)\" y=\"\(y + 4)\" text-anchor=\"end\">\(label(power))</text>")
        }
        for size in curves.first?.points.map(\.size) ?? [] {
            let y = Self.height - Self.bottom + 18
            lines.append("<text x=\"\(x(size))\" y=\"\(y)\" text-anchor=\"middle\">\(Int(size))</text>")
        }
        return lines.joined(separator: "\n")
    }

    private func curve(_ curve: (name: String, points: [FigureRecord.Point]), number: Int) -> String {
        let path = curve.points.map { "\(x($0.size)),\(y($0.cost))" }.joined(separator: " ")
        let dots = curve.points.map { point in
            let title = "\(curve.name), \(Int(point.size)): \(String(format: "%.2f", point.cost))"
            return "<circle cx=\"\(x(point.size))\" cy=\"\(y(point.cost))\" r=\"3\"><title>\(title)</title></circle>"
        }.joined()
        let end = curve.points.last.map { y($0.cost) + 4 } ?? 0
        let text = "<text class=\"name\" x=\"\(Self.width - Self.right + 8)\" y=\"\(end)\">\(curve.name)</text>"
        return "<g class=\"curve curve-\(number)\"><polyline points=\"\(path)\"/>\(dots)\(text)</g>"
    }

    private func x(_ size: Double) -> Double {
        let part = (log10(size) - sizes.lowerBound) / (sizes.upperBound - sizes.lowerBound)
        return rounded(Self.left + part * (Self.width - Self.left - Self.right))
    }

    private func y(_ cost: Double) -> Double {
        let part = (log10(cost) - costs.lowerBound) / (costs.upperBound - costs.lowerBound)
        return rounded(Self.height - Self.bottom - part * (Self.height - Self.top - Self.bottom))
    }

    private func rounded(_ number: Double) -> Double { (number * 10).rounded() / 10 }

    private func label(_ power: Int) -> String {
        power >= 0 ? String(format: "%.0f", pow(10, Double(power))) : String(format: "%g", pow(10, Double(power)))
    }
}
