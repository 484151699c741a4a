billing_topics = {
  invoices  = 3
  reminders = 1
}
