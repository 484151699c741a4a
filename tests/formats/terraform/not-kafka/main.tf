# kafka is elsewhere
resource "aws_instance" "web" {
  tags = { team = "kafka" }
}
