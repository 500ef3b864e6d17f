// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/name_answer.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <netdb.h>

#include <map>
#include <string>

static std::map<std::string, int> names_asked_for;

/// In place of the C library's, which needs a name service: "known.test" has an address.
extern "C" int getaddrinfo(const char* name, const char* service, const addrinfo* hints, addrinfo** list) {
  using GetAddresses = int (*)(const char*, const char*, const addrinfo*, addrinfo**);
  const std::string asked(name != nullptr ? name : "");
  if (!asked.ends_with(".test")) return reinterpret_cast<GetAddresses>(::dlsym(RTLD_NEXT, "getaddrinfo"))(name, service, hints, list);
  ++names_asked_for[asked];
  return asked == "known.test" ? ::getaddrinfo("127.0.0.1", service, hints, list) : EAI_NONAME;
}

namespace n2nq::app {
namespace {

TEST(NameAnswer, addresses_are_asked_for_once_and_a_name_that_has_none_each_time) {
  for (int times = 0; times < 2; ++times) {
    const NameAnswer known = NameAnswer::of("known.test"), unknown = NameAnswer::of("unknown.test");
    EXPECT_EQ(known.addresses, QStringList("127.0.0.1"));
    EXPECT_EQ(known.why_none, "");
    EXPECT_TRUE(unknown.addresses.isEmpty());
    EXPECT_NE(unknown.why_none, "");
  }
  EXPECT_EQ(names_asked_for["known.test"], 1);
  EXPECT_EQ(names_asked_for["unknown.test"], 2) << "it may have been given one";
}

TEST(NameAnswer, letters_beyond_ascii_are_asked_for_as_name_services_have_them) {
  NameAnswer::of(QString::fromUtf8("bücher.test"));
  EXPECT_EQ(names_asked_for["xn--bcher-kva.test"], 1);
}

TEST(NameAnswer, what_is_no_name_is_not_asked_for) {
  EXPECT_NE(NameAnswer::of("").why_none, "");
}

}  // namespace
}  // namespace n2nq::app
