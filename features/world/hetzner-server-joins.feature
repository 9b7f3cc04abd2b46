Feature: A server of the fake Hetzner Cloud becomes a Node

  No autoscaler takes part: a small client makes the calls that one makes.

  Background:
    Given a cluster
    And a Hetzner Cloud project

  Scenario: By the endpoint
    When a client creates the server "a" of type "cx22" in "fsn1"
    Then the Node "a" is Ready within 3m and has the provider ID of its server

  Scenario: By the real name, through the proxy
    When a client that uses only api.hetzner.cloud creates the server "a" of type "cax11" in "nbg1"
    Then the Node "a" is Ready within 3m and has the provider ID of its server
