// SPDX-License-Identifier: MIT

/// Rows of cells in aligned columns; a cell may have several lines.
struct Table {
    private let columns: [String]
    private let widest: Int
    private var rows: [[[String]]] = []

    /// - Parameter widest: the number of characters after which a cell goes on in the next line.
    init(columns: [String], widest: Int = 44) {
        self.columns = columns
        self.widest = widest
    }

    mutating func add(_ cells: [[String]]) {
        rows.append(cells.map { cell in cell.flatMap(wrapped) })
    }

    /// The table, with a rule under its head.
    var text: String {
        let head = columns.map { [$0] }
        let widths = columns.indices.map { column in
            ([head] + rows).flatMap { $0[column] }.map { LineBreaking.width(of: $0) }.max() ?? 0
        }
        let rule = widths.map { String(repeating: "─", count: $0) }.joined(separator: "─┼─")
        return (lines(of: head, widths) + [rule] + rows.flatMap { lines(of: $0, widths) }).joined(separator: "\n")
    }

    private func lines(of row: [[String]], _ widths: [Int]) -> [String] {
        (0..<max(1, row.map(\.count).max() ?? 1)).map { line in
            row.indices.map { column in
                let text = row[column].indices.contains(line) ? row[column][line] : ""
                if column == row.indices.last { return text }
                return text + String(repeating: " ", count: widths[column] - LineBreaking.width(of: text))
            }
            .joined(separator: " │ ")
        }
    }

    /// The text in lines that are not too wide, broken at spaces where there are any.
    private func wrapped(_ text: String) -> [String] {
        var lines: [String] = []
        var rest = text[...]
        while true {
            let indent = lines.isEmpty ? "" : "  "
            let line = rest.prefix(widest - indent.count)
            if line.count == rest.count { return lines + [indent + line] }
            let end = line.lastIndex(of: " ").map { line.index(after: $0) } ?? line.endIndex
            lines.append(indent + rest[..<end])
            rest = rest[end...]
        }
    }
}
