#include "amqp/proton.hpp"

namespace sessionq::amqp::proton {

std::string encoded(pn_data_t* data) {
    const ssize_t size = pn_data_encoded_size(data);
    if (size <= 0) {
        return {};
    }
    std::string bytes(static_cast<std::size_t>(size), '\0');
    const ssize_t written = pn_data_encode(data, bytes.data(), bytes.size());
    bytes.resize(written > 0 ? static_cast<std::size_t>(written) : 0);
    return bytes;
}

void set(pn_data_t* data, std::string_view encoded) {
    pn_data_clear(data);
    while (!encoded.empty()) {
        const ssize_t read = pn_data_decode(data, encoded.data(), encoded.size());
        if (read <= 0) {
            break;
        }
        encoded.remove_prefix(static_cast<std::size_t>(read));
    }
}

Condition read(pn_condition_t* condition) {
    if (!pn_condition_is_set(condition)) {
        return {};
    }
    return {.name = text(pn_condition_get_name(condition)),
            .text = text(pn_condition_get_description(condition)),
            .info = encoded(pn_condition_info(condition))};
}

void set(pn_condition_t* condition, const Condition& to) {
    pn_condition_clear(condition);
    if (!to.empty()) {
        pn_condition_set_name(condition, to.name.c_str());
        pn_condition_set_description(condition, to.text.c_str());
        set(pn_condition_info(condition), to.info);
    }
}

Terminus read(pn_terminus_t* terminus) {
    Terminus made;
    made.present = pn_terminus_get_type(terminus) != PN_UNSPECIFIED;
    made.dynamic = pn_terminus_is_dynamic(terminus);
    made.address = text(pn_terminus_get_address(terminus));
    made.filter = encoded(pn_terminus_filter(terminus));
    made.properties = encoded(pn_terminus_properties(terminus));
    return made;
}

void set(pn_terminus_t* terminus, const Terminus& to, bool is_source) {
    if (!to.present) {
        pn_terminus_set_type(terminus, PN_UNSPECIFIED);
        return;
    }
    pn_terminus_set_type(terminus, is_source ? PN_SOURCE : PN_TARGET);
    pn_terminus_set_address(terminus, to.address.empty() ? nullptr : to.address.c_str());
    pn_terminus_set_dynamic(terminus, to.dynamic);
    if (!to.filter.empty()) { // what is asked for is made, and stays
        set(pn_terminus_filter(terminus), to.filter);
    }
    if (!to.properties.empty()) {
        set(pn_terminus_properties(terminus), to.properties);
    }
}

} // namespace sessionq::amqp::proton
