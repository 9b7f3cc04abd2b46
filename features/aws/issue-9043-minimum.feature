# https://github.com/kubernetes/autoscaler/issues/9043: a group at its least size for which there is no capacity.

@cluster-autoscaler @aws @issue-9043
Feature: Capacity that a group at its least size never gets does not hide a pod that waits

  Background:
    Given a cluster
    And an AWS region
    And the instance type "m5.large" is out of stock
    And a Ready Node "system" for system pods only
    And these node groups:
      | name  | type       | min | max |
      | short | m5.large   | 1   | 5   |
      | other | c6i.xlarge | 0   | 5   |

  @aws-9043-minimum
  Scenario: The group owes its least instance, and the other one has room
    Given Cluster Autoscaler
    When a pod "web" that requests 1 CPU is created
    Then the pod "web" is Running within 10m
