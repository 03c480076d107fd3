// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "replay/input_error.hpp"
#include "replay/record_reader.hpp"

using namespace replay;

namespace {

/// A file in a folder of its own, gone at the end.
class TemporaryFile {
public:
    TemporaryFile(const std::string& name, const std::string& text) {
        std::string pattern = (std::filesystem::temp_directory_path() / "records-XXXXXX").string();
        folder_ = ::mkdtemp(pattern.data());
        path_ = folder_ / name;
        std::ofstream{path_, std::ios::binary} << text;
    }
    ~TemporaryFile() {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    [[nodiscard]] std::string path() const { return path_.string(); }
    [[nodiscard]] std::string folder() const { return folder_.string(); }

private:
    std::filesystem::path folder_;
    std::filesystem::path path_;
};

/// Each record as "LINE SESSION BODY".
std::vector<std::string> records_of(const std::string& name, const std::string& text,
                                    const std::string& key = "k") {
    const TemporaryFile file{name, text};
    RecordReader reader{file.path(), key};
    std::vector<std::string> all;
    Record record;
    while (reader.next(record)) {
        all.push_back(std::to_string(reader.line()) + " " + record.session_id + " " + record.body);
    }
    return all;
}

/// The complaint, from the file's name on.
std::string complaint_about(const std::string& name, const std::string& text,
                            const std::string& key = "k") {
    try {
        (void)records_of(name, text, key);
        return "none";
    } catch (const InputError& error) {
        const std::string what = error.what();
        return what.substr(what.rfind('/') + 1);
    }
}

using Lines = std::vector<std::string>;

} // namespace

TEST_CASE("record reader: JSON Lines, blank lines and CRLF and a byte order mark passed over") {
    CHECK(records_of("a.jsonl", "\xEF\xBB\xBF{\"k\":1}\r\n\n  \n{\"k\":\"b\"}") ==
          Lines{"1 1 {\"k\":1}", "4 b {\"k\":\"b\"}"});
}

TEST_CASE("record reader: a CSV row becomes a JSON object with the header's names") {
    CHECK(records_of("a.csv", "\xEF\xBB\xBFk,text\r\nx,\"a \"\"b\"\"\"\r\n\"y\nz\",\r\n") ==
          Lines{R"(2 x {"k":"x","text":"a \"b\""})", "3 y\nz {\"k\":\"y\\nz\",\"text\":\"\"}"});
}

TEST_CASE("record reader: without a telling extension the first character decides") {
    CHECK(records_of("records", "{\"k\":1}\n") == Lines{"1 1 {\"k\":1}"});
    CHECK(records_of("records.txt", "k\n1\n") == Lines{"2 1 {\"k\":\"1\"}"});
}

TEST_CASE("record reader: the outcome field comes along") {
    const TemporaryFile file{"a.csv", "k,state\na,on\n"};
    RecordReader reader{file.path(), "k", "state"};
    Record record;
    REQUIRE(reader.next(record));
    CHECK(record.outcome == "on");
}

TEST_CASE("record reader: progress reaches one") {
    const TemporaryFile file{"a.jsonl", "{\"k\":1}\n{\"k\":2}\n"};
    RecordReader reader{file.path(), "k"};
    CHECK(reader.progress() < 1.0);
    Record record;
    while (reader.next(record)) {
    }
    CHECK(reader.progress() == 1.0);
}

TEST_CASE("record reader: a file that cannot serve is refused by name") {
    CHECK(complaint_about("e.jsonl", "") == "e.jsonl: is empty");
    CHECK(complaint_about("e.csv", "") == "e.csv: is empty");
    CHECK(complaint_about("b.jsonl", "\n\n") == "b.jsonl: no record");
    CHECK(complaint_about("b.csv", "\n\n") == "b.csv: no header row");
    CHECK(complaint_about("h.csv", "k,l\n") == "h.csv: no record");
    const TemporaryFile file{"a.jsonl", "x"};
    CHECK_THROWS_WITH_AS((RecordReader{file.path() + ".gone", "k"}),
                         doctest::Contains("a.jsonl.gone: no such file"), InputError);
    CHECK_THROWS_WITH_AS((RecordReader{file.folder(), "k"}), doctest::Contains("is a directory"),
                         InputError);
}

TEST_CASE("record reader: a missing field is refused with its line") {
    CHECK(complaint_about("a.jsonl", "{\"k\":1}\n\n{\"x\":1}\n") == "a.jsonl:3: no field 'k'");
    CHECK(complaint_about("a.csv", "\na,b\n1,2\n") ==
          "a.csv:2: no column 'k'; the header names a, b");
    CHECK(complaint_about("a.csv", "k,k\n1,2\n") == "a.csv:1: more than one column 'k'");
}

TEST_CASE("record reader: a broken line is refused with its number") {
    CHECK(complaint_about("a.jsonl", "{\"k\":1}\n{\"k\":\n") ==
          "a.jsonl:2: broken JSON at column 6");
    CHECK(complaint_about("a.json", "[{\"k\":1}]\n") == "a.json:1: not a JSON object");
    CHECK(complaint_about("a.csv", "k,l\n1,2\n1\n") == "a.csv:3: 1 fields, but the header names 2");
    CHECK(complaint_about("a.csv", "k,l\n1,2\n1,\"2\n3,4\n") ==
          "a.csv:3: a quoted field has no end");
    CHECK(complaint_about("a.csv", "k\n1\n\xff\n") == "a.csv:3: not UTF-8");
}

TEST_CASE("record reader: a session id may have 128 characters, however many bytes they take") {
    std::string longest;
    for (int i = 0; i < 128; ++i) {
        longest += "\u00e4"; // two bytes
    }
    CHECK(records_of("a.jsonl", "{\"k\":\"" + longest + "\"}").size() == 1);
    CHECK(complaint_about("a.jsonl", "{\"k\":\"" + longest + "x\"}") ==
          "a.jsonl:1: field 'k' has 129 characters; a session id may have at most 128");
}
