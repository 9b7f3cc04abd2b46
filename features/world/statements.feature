# What Thens can state of any record in the history.

Feature: Thens state anything of the history

  Scenario: How often and in which order
    Given a cluster
    When a machine "a" with a simulated kubelet boots
    And a Deployment "web" of 2 pods that request 100m CPU is created
    Then "node" has recorded "running" of "pods" 2 times within 2m
    And somebody has sent "create" of "pods/binding" exactly 2 times within 1m
    And somebody has sent "create" of "pods/binding" at least 2 times within 1m
    And somebody has sent "create" of "pods/binding" no more than 2 times within 1m
    And somebody has sent "create" of "pods/binding" no more than 1 time in any 30s, for each object, within 1m
    And somebody has sent "create" of "pods/binding" no more than 2 times in any 30s, for all objects together, within 1m
    And somebody has sent "delete" of "nodes" at no time within 1m
    And "node" has recorded "register" of "nodes" "a" before "node" has recorded "running" of "pods" within 1m
