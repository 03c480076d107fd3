#include "processor/session_machine.hpp"
