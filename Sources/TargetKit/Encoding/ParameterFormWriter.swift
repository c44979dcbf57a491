// SPDX-License-Identifier: MIT

import Foundation

/// Writes values of types known only at run time as a form, by the rules of a ``URLEncoding``.
struct ParameterFormWriter {
    private var form: FormWriter
    private let rules: URLEncoding

    init(rules: URLEncoding, pairCount: Int) {
        self.rules = rules
        form = FormWriter(arrays: rules.arrays, spaces: rules.spaces, capacity: pairCount * 32)
    }

    var bytes: [UInt8] { form.bytes }

    /// Writes the pairs that have no name before theirs.
    mutating func write(root pairs: [ParameterPair]) throws {
        for (key, value) in pairs {
            form.startName(key)
            do {
                try write(value, depth: 1)
            } catch let error as ParameterEncodingError {
                throw error.inside(key, isRoot: true)
            }
        }
    }

    private mutating func write<T>(_ value: T, depth: Int) throws {
        switch try ParameterValue(value) {
        case .text(let text): form.write(text)
        case .digits(let digits): form.write(digits)
        case .signed(let number): form.write(number)
        case .unsigned(let number): form.write(number)
        case .double(let number): form.write(try NumberText.text(number))
        case .float(let number): form.write(try NumberText.text(number))
        case .decimal(let number): form.write(try NumberText.text(number))
        case .bool(let flag): write(flag)
        case .date(let date): try write(date)
        case .data(let data): try write(data)
        case .missing: rules.nils.replacement().map { form.write($0) }
        case .null: rules.nulls.replacement().map { form.write($0) }
        case .list(let list): try write(list, depth: depth)
        case .pairs(let pairs): try write(pairs, depth: depth)
        }
    }

    private mutating func write(_ list: any ParameterList, depth: Int) throws {
        guard depth < ParameterEncodingError.maximumDepth else { throw ParameterEncodingError(.tooDeep) }
        let mark = form.mark
        var index = 0
        try list.forEachParameter { element in
            let written = form.bytes.count
            form.appendName(elementAt: index)
            do {
                try write(element, depth: depth + 1)
            } catch let error as ParameterEncodingError {
                throw error.inside("\(index)", isRoot: false)
            }
            form.restore(mark)
            // An element that is left out leaves no gap in the numbers.
            if form.bytes.count > written { index += 1 }
        }
    }

    private mutating func write(_ pairs: any ParameterPairs, depth: Int) throws {
        guard depth < ParameterEncodingError.maximumDepth else { throw ParameterEncodingError(.tooDeep) }
        let mark = form.mark
        for (key, value) in try pairs.parameterPairs(sorted: true) {
            form.appendName(bracketed: key)
            do {
                try write(value, depth: depth + 1)
            } catch let error as ParameterEncodingError {
                throw error.inside(key, isRoot: false)
            }
            form.restore(mark)
        }
    }

    private mutating func write(_ flag: Bool) {
        switch rules.bools {
        case .numeric: form.write(flag ? 1 as Int64 : 0)
        case .literal: form.write(flag ? "true" : "false")
        }
    }

    private mutating func write(_ date: Date) throws {
        switch try rules.dates.form(of: date) {
        case .number(let number): form.write(try NumberText.text(number))
        case .text(let text): form.write(text)
        }
    }

    private mutating func write(_ data: Data) throws {
        if let text = try rules.data.text(of: data) {
            form.write(text)
        } else {
            try write(Array(data), depth: 1)
        }
    }
}
