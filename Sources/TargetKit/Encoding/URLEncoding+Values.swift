// SPDX-License-Identifier: MIT

import Foundation

extension URLEncoding {
    /// Writes a dictionary that has no name before its own, sorted.
    func write(root parameters: [String: any Sendable], to form: inout FormWriter) throws {
        // The types are spelled out since a call opens an existential, as `write` needs it, only where its type is known.
        try KeyOrder.forEach(in: parameters, sorted: true) { (key: String, value: any Sendable) in
            try write(root: key, value, to: &form)
        }
    }

    /// Writes one pair that has no name before its own.
    func write<T>(root key: String, _ value: T, to form: inout FormWriter) throws {
        form.startName(key)
        do {
            try write(value, to: &form, depth: 1)
        } catch let error as ParameterEncodingError {
            throw error.inside(key, isRoot: true)
        }
    }

    private func write<T>(_ value: T, to form: inout FormWriter, depth: Int) throws {
        switch try ParameterValue.of(value) {
        case .text(let text): form.write(text)
        case .digits(let digits): form.write(digits)
        case .signed(let number): form.write(number)
        case .unsigned(let number): form.write(number)
        case .double(let number): form.write(try NumberText.text(number))
        case .float(let number): form.write(try NumberText.text(number))
        case .decimal(let number): form.write(try NumberText.text(number))
        case .bool(let flag): write(flag, to: &form)
        case .date(let date): try write(date, to: &form)
        case .data(let data): try write(data, to: &form, depth: depth)
        case .missing: if let text = nils.replacement { form.write(text) }
        case .null: if let text = nulls.replacement { form.write(text) }
        case .list(let list): try write(list, to: &form, depth: depth)
        case .pairs(let pairs): try write(pairs, to: &form, depth: depth)
        }
    }

    private func write(_ list: any ParameterList, to form: inout FormWriter, depth: Int) throws {
        guard depth < ParameterEncodingError.maximumDepth else { throw ParameterEncodingError(.tooDeep) }
        let mark = form.mark()
        var index = 0
        try list.forEachParameter { element in
            let written = form.pairCount
            form.appendName(elementAt: index)
            do {
                try write(element, to: &form, depth: depth + 1)
            } catch let error as ParameterEncodingError {
                throw error.inside("\(index)", isRoot: false)
            }
            form.restore(mark)
            // An element that is left out leaves no gap in the numbers.
            if form.pairCount > written { index += 1 }
        }
    }

    private func write(_ pairs: any ParameterPairs, to form: inout FormWriter, depth: Int) throws {
        guard depth < ParameterEncodingError.maximumDepth else { throw ParameterEncodingError(.tooDeep) }
        let mark = form.mark()
        try pairs.forEachParameter(sorted: true) { key, value in
            form.appendName(bracketed: key)
            do {
                try write(value, to: &form, depth: depth + 1)
            } catch let error as ParameterEncodingError {
                throw error.inside(key, isRoot: false)
            }
            form.restore(mark)
        }
    }

    private func write(_ flag: Bool, to form: inout FormWriter) {
        switch bools {
        case .numeric: form.write(flag ? 1 as Int64 : 0)
        case .literal: form.write(flag ? "true" : "false")
        }
    }

    private func write(_ date: Date, to form: inout FormWriter) throws {
        switch try dates.form(of: date) {
        case .number(let number): form.write(try NumberText.text(number))
        case .text(let text): form.write(text)
        }
    }

    private func write(_ data: Data, to form: inout FormWriter, depth: Int) throws {
        if let text = try self.data.text(of: data) {
            form.write(text)
        } else {
            try write(Array(data), to: &form, depth: depth)
        }
    }
}
