// SPDX-License-Identifier: MIT
import ArgumentParser

/// How the program speaks.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print an object in each line, for programs.")
    var json = false

    @Option(help: "The language: en or zh-Hans.")
    var lang = Language.english

    var console: Console { Console(json ? .json : .text(.standardOutput()), language: lang) }
}

extension Language: ExpressibleByArgument {}
